import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DEPLOYMENTS, NODES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { rewritten } from './lyingAnswers.ts';
import { startLyingPrometheus, type LyingPrometheus } from './lyingPrometheus.ts';
import { measured, seconds, until } from '../harness/measured.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** Answers that lack some nodes and say so, and a cluster that is full everywhere. */
const WAIT = { timeout: 90_000, interval: 100 };
const KEY = unfitKey('web');
/** A TrafficWatch by which a node without a figure is unfit after a second. */
const STRICT = unfitKey('strict');
const WARNING = 'store-2 did not answer: results may be partial';

let f: Fixture;
let prometheus: LyingPrometheus;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2', 'n3', 'n4'] });
  f.exporter.setPercent('n2', 60);
  prometheus = await startLyingPrometheus(f.prometheusUrl);
  await f.startOperator([], { prometheusUrl: prometheus.url });
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await f.createWatch('strict', { maxBandwidthPercent: '10', missingData: { policy: 'Unfit', holdFor: '1s' } });
  for (const key of [KEY, STRICT]) await expectLabels({ n1: 'false', n2: 'true', n3: 'false', n4: 'false' }, key);
});
afterAll(async () => {
  await f.stop();
  await prometheus.stop();
});

async function expectLabels(labels: Record<string, string>, key = KEY): Promise<void> {
  await vi.waitFor(async () => expect(await f.labels(key)).toEqual(labels), WAIT);
}

async function available() {
  return (await f.watch('web')).status?.conditions?.find(({ type }) => type === 'MetricsAvailable');
}

/** Leaves the nodes out that are named, as a Thanos does whose store is gone. */
const without = (missing: readonly string[], warnings = [WARNING]) =>
  rewritten((answer) => ({
    ...answer,
    warnings,
    data: { ...answer.data, result: answer.data.result.filter(({ metric }) => !missing.includes(metric.node ?? '')) },
  }));

describe('a partial answer with a warning', () => {
  it('lets the nodes proceed that are in it; the others are Unknown and keep their labels', async () => {
    const { n2, n4 } = await f.nodeVersions();
    const since = performance.now();
    prometheus.lie = without(['n2', 'n4']);
    await vi.waitFor(async () => expect((await f.watch('web')).status).toMatchObject({ unknownNodes: 2 }), WAIT);
    measured(`a partial answer: the nodes that it lacks are Unknown after ${seconds(performance.now() - since)}`);
    f.exporter.setPercent('n1', 90);
    f.exporter.setPercent('n4', 90);
    await expectLabels({ n1: 'true', n2: 'true', n3: 'false', n4: 'false' });
    // The status follows the labels.
    await vi.waitFor(async () => {
      expect((await f.watch('web')).status?.nodes).toMatchObject({
        n1: { verdict: 'Unfit' },
        n2: { verdict: 'Unknown', reason: 'NoSeries', unfit: true },
        n3: { verdict: 'Fit' },
        n4: { verdict: 'Unknown', reason: 'NoSeries', unfit: false },
      });
    }, WAIT);
    expect(await f.nodeVersions()).toMatchObject({ n2, n4 });
  });

  it('is reported with the warning, and with the names of the nodes once they are no newcomers', async () => {
    // A scrape that a busy machine misses takes the figures of all for a pass.
    await vi.waitFor(async () => {
      const condition = await available();
      expect(condition).toMatchObject({ status: 'False', reason: 'PartialData' });
      expect(condition?.message).toContain(`Prometheus warns: ${WARNING}`);
    }, WAIT);
    const message = `no data for n2 (NoSeries), n4 (NoSeries); Prometheus warns: ${WARNING}`;
    await vi.waitFor(async () => expect(await available()).toMatchObject({ message }), WAIT);
    measured(`a partial answer: "${message}"`);
  });

  it('counts for missingData only when the warning is gone and the nodes still have no figures', async () => {
    expect(await f.labels(STRICT)).toEqual({ n1: 'true', n2: 'true', n3: 'false', n4: 'false' });
    prometheus.lie = without(['n2', 'n4'], []);
    await expectLabels({ n1: 'true', n2: 'true', n3: 'false', n4: 'true' }, STRICT);
  });

  it('is over when the answer is whole', async () => {
    prometheus.lie = undefined;
    await expectLabels({ n1: 'true', n2: 'true', n3: 'false', n4: 'true' });
    await vi.waitFor(async () => expect(await available()).toMatchObject({ status: 'True' }), WAIT);
  });
});

describe('a cluster of which every node is over the threshold', () => {
  it('is unfit everywhere, an event says so once, and nothing that runs is touched', async () => {
    const { metadata: before } = await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'web' });
    const since = performance.now();
    f.exporter.setPercent('n3', 90);
    await expectLabels({ n1: 'true', n2: 'true', n3: 'true', n4: 'true' });
    measured(`every node is unfit ${seconds(performance.now() - since)} after the traffic`);
    const events = async () => (await f.events('web')).filter(({ reason }) => reason === 'AllNodesUnfit');
    await until('an event says so', async () => (await events()).length > 0);
    const [event] = await events();
    expect(event).toMatchObject({
      type: 'Warning',
      note: expect.stringContaining('running pods are not moved') as string,
    });
    measured(`every node is unfit: event "${event?.note ?? ''}"`);
    const all = { ready: true, unfitNodes: 4, fitNodes: 0, unknownNodes: 0 };
    await vi.waitFor(async () => expect((await f.watch('web')).status).toMatchObject(all), WAIT);
    await expectNoEviction(before?.generation);
    expect(await events()).toHaveLength(1);
  });
});

/** Pods that run are left alone by a label that only the scheduler reads: neither taints nor a Deployment that changes. */
async function expectNoEviction(generation: number | undefined): Promise<void> {
  const nodes = await f.client.list(NODES);
  for (const { spec } of nodes) {
    expect(spec?.unschedulable).toBeUndefined();
    expect(spec?.taints?.filter(({ key }) => key.includes('traffic.example.com')) ?? []).toEqual([]);
  }
  const { metadata, spec } = await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'web' });
  expect(metadata?.generation).toBe(generation);
  const affinity = spec?.template.spec?.affinity?.nodeAffinity;
  expect(affinity?.requiredDuringSchedulingIgnoredDuringExecution).toBeDefined();
}
