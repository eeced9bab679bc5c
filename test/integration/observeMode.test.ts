import type { V1Deployment } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Mode } from '../../src/api/trafficwatch/spec/mode.ts';
import type { TrafficWatchStatus } from '../../src/api/trafficwatch/schema.ts';
import { isNotFound } from '../../src/runtime/client/errors.ts';
import { DEPLOYMENTS, NODES } from '../../src/runtime/client/resources.ts';
import { writesOf } from '../harness/audit.ts';
import { expectApplied } from '../harness/applied.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';

/** spec.mode on a real API server and Prometheus: what is written, by the audit log. */
const WAIT = { timeout: 90_000, interval: 200 };
const KEY = 'web.traffic.example.com/unfit';
/** A label of a TrafficWatch that stays, and one of the same form that a person wrote. */
const OF_OTHER = 'other.traffic.example.com/unfit';
const OF_PERSON = 'person.traffic.example.com/unfit';
const REF = { namespace: 'default', name: 'web' };
const OPERATOR = 'operator-under-test';
const TRAFFIC_CHANGES = 4;

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  await f.startOperator([], { kubeconfig: await f.controlPlane.user(OPERATOR, ['system:masters']) });
  await f.createWatch('web', { maxBandwidthPercent: '10', mode: 'Observe' });
});
afterAll(() => f.stop());

const setMode = (mode: Mode): Promise<unknown> => f.patchWatch('web', { spec: { mode } });

async function expectStatus(expected: Partial<TrafficWatchStatus>): Promise<void> {
  await vi.waitFor(async () => expect((await f.watch('web')).status).toMatchObject(expected), WAIT);
}

async function deployment(): Promise<V1Deployment | undefined> {
  try {
    return await f.client.get(DEPLOYMENTS, REF);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Every node without this label, its version and its field managers. */
async function nodesWithout(key: string): Promise<unknown[]> {
  return (await f.client.list(NODES)).map(({ metadata, spec }) => {
    const labels = Object.entries(metadata?.labels ?? {}).filter(([each]) => each !== key);
    return { name: metadata?.name, labels: Object.fromEntries(labels), annotations: metadata?.annotations, spec };
  });
}

/** What the operator has written, each once: 'patch trafficwatches/status'. */
function written(): string[] {
  return [...new Set(writesOf(f.controlPlane, OPERATOR).map(({ verb, resource }) => `${verb} ${resource}`))].sort();
}

describe('a TrafficWatch with mode Observe', () => {
  it('follows the traffic in its status, and nothing but status and events is written', async () => {
    for (let change = 0; change < TRAFFIC_CHANGES; change++) {
      const [percent, unfitNodes] = change % 2 === 0 ? [60, 1] : [1, 0];
      f.exporter.setPercent('n1', percent);
      await expectStatus({ mode: 'Observe', ready: true, unfitNodes, plan: { nodesToLabel: 2, deployment: 'Create' } });
    }
    expect(written().filter((write) => !write.endsWith(' events'))).toEqual(['patch trafficwatches/status']);
    expect([await f.labels(KEY), await deployment()]).toEqual([{}, undefined]);
    expect((await f.watch('web')).metadata).not.toHaveProperty('finalizers');
  });

  it('labels the nodes and creates the Deployment once the mode is Enforce', async () => {
    await setMode('Enforce');
    await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual({ n1: 'false', n2: 'false' }), WAIT);
    await vi.waitFor(async () => expect(await deployment()).toBeDefined(), WAIT);
    await expectStatus({ mode: 'Enforce', labelKey: KEY });
    expect((await f.watch('web')).status).not.toHaveProperty('plan');
  });

  it('removes its labels and its finalizer once the mode is Observe again, and nothing else', async () => {
    await vi.waitFor(async () => expect((await f.watch('web')).metadata?.finalizers).toHaveLength(1), WAIT);
    await f.setLabels('n1', { pool: 'a', [OF_PERSON]: 'true' });
    await f.createWatch('other', { maxBandwidthPercent: '90' });
    await vi.waitFor(async () => expect((await f.watch('other')).status?.ready).toBe(true), WAIT);
    await vi.waitFor(async () => expect(await f.labels(OF_OTHER)).toEqual({ n1: 'false', n2: 'false' }), WAIT);
    const { metadata } = await vi.waitFor(async () => {
      const made = await deployment();
      expectApplied(made);
      return made!;
    }, WAIT);
    const before = await nodesWithout(KEY);
    // The API server may log an earlier write later.
    const since = Date.now();
    await setMode('Observe');
    await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual({}), WAIT);
    await vi.waitFor(async () => expect((await f.watch('web')).metadata).not.toHaveProperty('finalizers'), WAIT);
    await expectStatus({ mode: 'Observe', ready: true, plan: { nodesToLabel: 2, deployment: 'Apply' } });
    expect((await deployment())?.metadata?.resourceVersion).toBe(metadata?.resourceVersion);
    expect(await nodesWithout(KEY)).toEqual(before);
    // The API server logs a write after its answer.
    await vi.waitFor(() => {
      const writes = writesOf(f.controlPlane, OPERATOR).filter(({ at }) => at >= since);
      const others = writes.filter(({ name, resource }) => name !== 'other' && !/^(events|.*\/status)$/.test(resource));
      // Of each node once, then the finalizer. The Deployment of `other` may be applied meanwhile.
      expect(others.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`).sort()).toEqual([
        'patch nodes n1',
        'patch nodes n2',
        'patch trafficwatches web',
      ]);
    }, WAIT);
  });

  it('can be deleted', async () => {
    await f.deleteWatch('web');
    await vi.waitFor(() => expect(f.watch('web')).rejects.toSatisfy(isNotFound), WAIT);
  });

  it('is refused by the API server with another mode, which names what is allowed', async () => {
    await expect(f.createWatch('web', { maxBandwidthPercent: '10', mode: 'DryRun' as Mode })).rejects.toMatchObject({
      message: expect.stringMatching(/spec\.mode.*"DryRun".*"Enforce", "Observe"/) as string,
    });
  });
});
