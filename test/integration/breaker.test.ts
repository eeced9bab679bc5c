import { readFileSync } from 'node:fs';
import type { V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** spec.maxUnfit on a real API server and Prometheus: how many nodes were labelled unfit at any time, by the audit log. */
const WAIT = { timeout: 90_000, interval: 200 };
const KEY = unfitKey('web');
const NODES = Array.from({ length: 10 }, (_, n) => `n${n}`);
const LIMIT = 5;
/** Requests and answers of Node writes. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [
    {
      level: 'RequestResponse',
      resources: [{ group: '', resources: ['nodes'] }],
      verbs: ['create', 'patch', 'delete'],
    },
    { level: 'None' },
  ],
};

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: NODES, auditPolicy: AUDIT_POLICY });
  NODES.forEach((node, n) => f.exporter.setPercent(node, 30 + 6 * n));
  await f.startOperator();
  // Rates rise until the window is full: the fullest nodes are known only then.
  await f.createWatch('web', { maxBandwidthPercent: '20', maxUnfit: '50%', mode: 'Observe' });
  await vi.waitFor(async () => expect(await lowestPercent()).toBeGreaterThan(29), WAIT);
  await f.patchWatch('web', { spec: { mode: 'Enforce' } });
});
afterAll(() => f.stop());

interface NodeWrite {
  stageTimestamp: string;
  verb: string;
  objectRef: { name: string };
  responseStatus: { code: number };
  responseObject?: V1Node;
}

/** The most nodes that were labelled unfit after any of the writes, in the order of their resource versions. */
function mostUnfitAtOnce(): number {
  const lines = readFileSync(f.controlPlane.auditLog, 'utf8').split('\n').slice(0, -1);
  const writes = lines
    .map((line) => JSON.parse(line) as NodeWrite)
    .filter(({ responseStatus }) => responseStatus.code < 300);
  const unfit = new Set<string>();
  let most = 0;
  for (const { verb, objectRef, responseObject } of writes.sort((a, b) => versionOf(a) - versionOf(b))) {
    const isUnfit = verb !== 'delete' && responseObject?.metadata?.labels?.[KEY] === 'true';
    if (isUnfit) unfit.add(objectRef.name);
    else unfit.delete(objectRef.name);
    most = Math.max(most, unfit.size);
  }
  return most;
}

/**
 * The response to a deletion is a Status without a resource version. By its time it comes after all other writes: until it
 * is created again, a deleted node counts as it was labelled, so that the count is never too low.
 */
function versionOf({ responseObject, stageTimestamp }: NodeWrite): number {
  return Number(responseObject?.metadata?.resourceVersion ?? Date.parse(stageTimestamp));
}

async function lowestPercent(): Promise<number> {
  const nodes = Object.values((await f.watch('web')).status?.nodes ?? {});
  const percents = nodes.map(({ currentBandwidthPercent }) => Number(currentBandwidthPercent || '0'));
  return percents.length === NODES.length ? Math.min(...percents) : 0;
}

async function expectUnfit(count: number): Promise<string[]> {
  return vi.waitFor(async () => {
    const unfit = Object.entries(await f.labels(KEY)).filter(([, value]) => value === 'true');
    expect(unfit).toHaveLength(count);
    return unfit.map(([node]) => node).sort();
  }, WAIT);
}

async function expectBreaker(status: 'True' | 'False', message: string): Promise<void> {
  await vi.waitFor(async () => {
    const conditions = (await f.watch('web')).status?.conditions ?? [];
    expect(conditions.find(({ type }) => type === 'BreakerOpen')).toMatchObject({ status, message });
  }, WAIT);
}

describe('ten nodes above the threshold, of which half may be unfit', () => {
  it('has the five fullest labelled, and says how many are held back in a condition and an event', async () => {
    expect(await expectUnfit(LIMIT)).toEqual(['n5', 'n6', 'n7', 'n8', 'n9']);
    await expectBreaker(
      'True',
      '10 nodes exceed the threshold, at most 5 may be unfit (maxUnfit, minFit); 5 still accept pods',
    );
    // It was reported with mode Observe, while rates were rising.
    const note = expect.stringMatching(/BreakerOpen: \d+ nodes exceed the threshold, at most 5 may be/) as string;
    await vi.waitFor(async () => {
      const [event] = (await f.events('web')).filter(({ reason }) => reason === 'TooManyUnfit');
      expect(event).toMatchObject({ type: 'Warning', note });
    }, WAIT);
  });

  it('gives the place of a node that is fit again to another node', async () => {
    f.exporter.setPercent('n9', 1);
    await vi.waitFor(async () => expect((await f.labels(KEY)).n9).toBe('false'), WAIT);
    expect(await expectUnfit(LIMIT)).toEqual(['n4', 'n5', 'n6', 'n7', 'n8']);
  });

  it('follows nodes that leave and join: the limit is half of the present nodes', async () => {
    for (const node of ['n8', 'n9']) await f.removeNode(node);
    await expectBreaker(
      'True',
      '8 nodes exceed the threshold, at most 4 may be unfit (maxUnfit, minFit); 4 still accept pods',
    );
    expect(await expectUnfit(4)).toEqual(['n4', 'n5', 'n6', 'n7']);
    for (const node of ['n8', 'n9']) {
      f.exporter.setPercent(node, 99);
      await f.addNode(node);
    }
    await vi.waitFor(async () => {
      const nodes = Object.values((await f.watch('web')).status?.nodes ?? {});
      expect(nodes.filter(({ reason }) => reason === 'HeldByBreaker')).toHaveLength(NODES.length - LIMIT);
    }, WAIT);
    await expectUnfit(LIMIT);
    expect(mostUnfitAtOnce()).toBe(LIMIT);
  });

  it('closes when fewer nodes are above', async () => {
    for (const node of NODES.slice(0, 6)) f.exporter.setPercent(node, 1);
    await expectBreaker('False', 'within the limit: at most 5 nodes may be unfit');
    await expectUnfit(4);
  });

  it('stays open for breakerCooldown, in which no further node becomes unfit', async () => {
    const condition = async () => (await f.watch('web')).status?.conditions?.find(({ type }) => type === 'BreakerOpen');
    const unfit = await expectUnfit(4);
    await f.patchWatch('web', { spec: { maxUnfit: 4, breakerCooldown: '15s' } });
    f.exporter.setPercent('n0', 99);
    await vi.waitFor(async () => expect(await condition()).toMatchObject({ reason: 'TooManyUnfit' }), WAIT);
    f.exporter.setPercent(unfit[0]!, 1);
    const since = await vi.waitFor(async () => {
      expect(await condition()).toMatchObject({ status: 'True', reason: 'CoolingDown' });
      return Date.parse((await f.watch('web')).status?.breakerCoolingSince ?? '');
    }, WAIT);
    await f.restartOperator();
    const closed = await vi.waitFor(async () => {
      const found = await condition();
      expect(found).toMatchObject({ status: 'False', reason: 'WithinLimit' });
      return Date.parse(found?.lastTransitionTime ?? '');
    }, WAIT);
    expect(closed - since).toBeGreaterThanOrEqual(15_000);
    expect(await expectUnfit(4)).toEqual(['n0', ...unfit.slice(1)]);
    expect(mostUnfitAtOnce()).toBe(LIMIT);
  });

  it('has no such condition without a limit', async () => {
    await f.patchWatch('web', { spec: { maxUnfit: null, breakerCooldown: null } });
    await vi.waitFor(async () => {
      const { metadata, status } = await f.watch('web');
      expect(status?.observedGeneration).toBe(metadata?.generation);
      expect(status?.conditions?.map(({ type }) => type)).not.toContain('BreakerOpen');
    }, WAIT);
    expect(mostUnfitAtOnce()).toBe(LIMIT);
  });
});
