import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startFixture, type Fixture } from '../harness/fixture.ts';

/** spec.missingData on a real API server and Prometheus: a node whose series end, and an outage of Prometheus. */
const WAIT = { timeout: 90_000, interval: 200 };

let f: Fixture;
beforeAll(async () => {
  // Scrapes that fail on a busy machine take no figure of n1 away.
  f = await startFixture({ nodes: ['n1', 'n2'], withTimes: true });
  await f.startOperator([], { pace: ['--interval=1s', '--window=15s'] });
  await f.createWatch('hold', { maxBandwidthPercent: '60' });
  await f.createWatch('unfit', { maxBandwidthPercent: '60', missingData: { policy: 'Unfit', holdFor: '5s' } });
  for (const watch of ['hold', 'unfit']) await expectLabel(watch, 'n2', 'false');
});
afterAll(() => f.stop());

async function expectLabel(watch: string, node: string, value: string): Promise<void> {
  await vi.waitFor(async () => expect((await f.labels(`${watch}.traffic.example.com/unfit`))[node]).toBe(value), WAIT);
}

async function expectNode(watch: string, node: string, expected: object): Promise<void> {
  await vi.waitFor(async () => expect((await f.watch(watch)).status?.nodes?.[node]).toMatchObject(expected), WAIT);
}

describe('missingData', () => {
  it('makes a node without series unfit after holdFor, and holds its label by default', async () => {
    f.exporter.remove('n2');
    await expectNode('unfit', 'n2', { verdict: 'Unfit', reason: 'NoDataUnfit', currentBandwidthPercent: '' });
    await expectLabel('unfit', 'n2', 'true');
    await expectNode('hold', 'n2', { verdict: 'Unknown', unfit: false });
    expect((await f.labels('hold.traffic.example.com/unfit')).n2).toBe('false');
    await vi.waitFor(async () => {
      const notes = (await f.events('unfit')).filter(({ reason }) => reason === 'NodeUnfit').map(({ note }) => note);
      expect(notes).toEqual(['node n2 turned unfit: no figure (missingData)']);
    }, WAIT);
  });

  it('decides by the figure again when there is one', async () => {
    f.exporter.setPercent('n2', 1);
    await expectLabel('unfit', 'n2', 'false');
  });

  it('changes no label while Prometheus is down, however long', async () => {
    await f.stopPrometheus();
    const down = async () =>
      (await f.watch('unfit')).status?.conditions?.find(({ type }) => type === 'PrometheusReachable');
    const since = await vi.waitFor(async () => {
      const condition = await down();
      expect(condition?.status).toBe('False');
      return Date.parse(condition?.lastTransitionTime ?? '');
    }, WAIT);
    // Twice holdFor.
    await vi.waitFor(() => expect(Date.now() - since).toBeGreaterThan(10_000), WAIT);
    expect(await down()).toMatchObject({ status: 'False' });
    expect(await f.labels('unfit.traffic.example.com/unfit')).toEqual({ n1: 'false', n2: 'false' });
  });

  it.each([{ holdFor: '5m' }, { policy: 'Hold', holdFor: '5m' }])(
    'refuses %j: Hold has no end',
    async (missingData) => {
      await expect(f.patchWatch('hold', { spec: { missingData } })).rejects.toMatchObject({
        message: expect.stringMatching(
          /spec\.missingData\.holdFor.*applies only with the policy Unfit or Fit/,
        ) as string,
      });
    },
  );

  it.each(['0s', '25h', '5', '99999h99999h', 'soon'])(
    'refuses holdFor %j, and says what is allowed',
    async (holdFor) => {
      await expect(f.patchWatch('hold', { spec: { missingData: { policy: 'Fit', holdFor } } })).rejects.toMatchObject({
        message: expect.stringMatching(/spec\.missingData\.holdFor.*must be a duration from "1s" to "24h"/) as string,
      });
    },
  );
});
