import type { V1Deployment, V1NodeAffinity } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Placement } from '../../src/api/trafficwatch/spec/placement.ts';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { FIELD_MANAGER } from '../../src/controllers/trafficwatch/names.ts';
import { renderDeployment, type WithDeployment } from '../../src/controllers/trafficwatch/decide/deployment.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { expectApplied } from '../harness/applied.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';
import { legacyKey, unfitKey } from '../harness/unfitKey.ts';

/** The Deployment of a TrafficWatch on a real API server: who owns its fields decides what an edit of the spec does. */
const WAIT = { timeout: 90_000, interval: 200 };
const AUTOSCALER = { fieldManager: 'autoscaler', subresource: 'scale' };
const web = { name: 'web', image: 'web:1', env: [{ name: 'A', value: '1' }] };
const side = { name: 'side', image: 'side:1' };

let f: Fixture;
let connected: Connected;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'] });
  connected = connect(f.controlPlane);
  await f.startOperator();
});
afterAll(async () => {
  await connected.transport.close();
  await f.stop();
});

const ref = (name: string) => ({ namespace: 'default', name });
const deployment = (name: string): Promise<V1Deployment> => f.client.get(DEPLOYMENTS, ref(name));
const patchSpec = (name: string, spec: unknown): Promise<unknown> => f.patchWatch(name, { spec: { deployment: spec } });
const podSpec = (containers: object[], more: object = {}) => ({ template: { spec: { containers, ...more } } });

function createWatch(name: string, containers: object[], more: object = {}, pod: object = {}): Promise<WithDeployment> {
  const template = { metadata: { labels: { app: name } }, spec: { containers, ...pod } };
  const spec = {
    maxBandwidthPercent: '10',
    deployment: { selector: { matchLabels: { app: name } }, template, ...more },
  };
  return f.client.create(TRAFFIC_WATCHES, { metadata: ref(name), spec } as WithDeployment) as Promise<WithDeployment>;
}

/** Waits until the Deployment passes the check. */
async function settled(name: string, check: (d: V1Deployment) => void, wait = WAIT): Promise<V1Deployment> {
  return vi.waitFor(async () => {
    const found = await deployment(name);
    check(found);
    return found;
  }, wait);
}

const owners = (d: V1Deployment): string[] =>
  (d.metadata?.managedFields ?? []).map((e) => `${e.manager ?? ''} ${e.operation ?? ''} ${e.subresource ?? ''}`.trim());

describe('a Deployment that PKopel/traffic-operator made', () => {
  let before: V1Deployment;

  beforeAll(async () => {
    await f.stopOperator();
    const watch = await createWatch('old', [web, side], { replicas: 3 });
    const byPKopel = { ready: true, nodes: { n1: { currentBandwidthPercent: '1e+00', time: 1, unfit: false } } };
    const ofStatus = { fieldManager: 'manager', subresource: 'status' };
    await f.client.mergePatch(TRAFFIC_WATCHES, ref('old'), { status: byPKopel }, ofStatus);
    const made = renderDeployment(watch, legacyKey('old'));
    await f.client.create(DEPLOYMENTS, { ...made, metadata: { ...made.metadata, labels: { app: 'old' } } });
    const restarted = { template: { metadata: { annotations: { restarted: 'today' } } } };
    await f.client.mergePatch(DEPLOYMENTS, ref('old'), { spec: restarted }, { fieldManager: 'kubectl-rollout' });
    const status = { status: { observedGeneration: 1, replicas: 3 } };
    const byController = { fieldManager: 'kube-controller-manager', subresource: 'status' };
    before = await f.client.mergePatch(DEPLOYMENTS, ref('old'), status, byController);
    await f.startOperator();
  });

  it('is adopted without a restart of its pods, and an event says so', async () => {
    const after = await settled('old', expectApplied);
    await vi.waitFor(async () => expect(await f.labels(legacyKey('old'))).toEqual({ n1: 'false' }), WAIT);
    // Pods restart when the template changes. The generation does not show that: it also counts changes of annotations.
    expect(after.spec).toEqual(before.spec);
    expect(owners(after).sort()).toEqual([
      'kube-controller-manager Update status',
      'kubectl-rollout Update',
      `${FIELD_MANAGER} Apply`,
    ]);
    await vi.waitFor(async () => {
      const reasons = (await f.events('old')).map((e) => e.reason);
      expect(reasons).toContain('DeploymentAdopted');
      expect(reasons).not.toContain('DeploymentUpdated');
    }, WAIT);
  });

  it('loses fields that the spec no longer has, and keeps fields of others', async () => {
    await patchSpec('old', podSpec([{ name: 'web', image: 'web:1' }]));
    const { spec } = await settled('old', (d) => expect(d.spec?.template.spec?.containers).toHaveLength(1));
    expect(spec?.template.spec?.containers[0]).not.toHaveProperty('env');
    expect(spec?.template.metadata?.annotations).toEqual({ restarted: 'today' });
  });
});

describe('a Deployment of ours whose field owners are lost', () => {
  it('is adopted too: fields that are not in the spec are removed, replicas stay', async () => {
    await f.stopOperator();
    const watch = await createWatch('restored', [{ name: 'web', image: 'web:1' }]);
    const made = renderDeployment(watch, unfitKey('restored'));
    const template = { ...made.spec!.template, spec: { ...made.spec!.template.spec, containers: [web, side] } };
    await f.client.create(DEPLOYMENTS, { ...made, spec: { ...made.spec!, replicas: 3, template } });
    // An empty entry clears them: https://kubernetes.io/docs/reference/using-api/server-side-apply/#clearing-managedfields
    const cleared = { metadata: { managedFields: [{}] } };
    await f.client.mergePatch(DEPLOYMENTS, ref('restored'), cleared, { fieldManager: 'restore' });
    expect(owners(await deployment('restored'))).toEqual([]);
    await f.startOperator();
    const { spec } = await settled('restored', expectApplied);
    expect(spec?.replicas).toBe(3);
    expect(spec?.template.spec?.containers.map(({ name, env }) => [name, env])).toEqual([['web', undefined]]);
    expect(owners(await deployment('restored'))).toEqual([`${FIELD_MANAGER} Apply`]);
  });
});

describe('the strategy', () => {
  it.each([
    ['that the API server filled in', {}],
    ['that the spec named', { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2 } } }],
  ])('%s becomes Recreate, and RollingUpdate again when nothing is asked for', async (_which, more) => {
    const name = 'strategy' in more ? 'named' : 'filled';
    await createWatch(name, [web], more);
    await settled(name, expectApplied);
    await patchSpec(name, { strategy: { type: 'Recreate', rollingUpdate: null } });
    await settled(name, (d) => expect(d.spec?.strategy).toEqual({ type: 'Recreate' }));
    await patchSpec(name, { strategy: null });
    await settled(name, (d) => expect(d.spec?.strategy?.type).toBe('RollingUpdate'));
    expect(owners(await deployment(name))).toEqual([`${FIELD_MANAGER} Apply`]);
  });

  it('becomes Recreate also where a person has set rollingUpdate', async () => {
    await createWatch('edited', [web]);
    await settled('edited', expectApplied);
    const edit = { spec: { strategy: { rollingUpdate: { maxSurge: 3 } }, minReadySeconds: 5 } };
    await f.client.mergePatch(DEPLOYMENTS, ref('edited'), edit, { fieldManager: 'kubectl-edit' });
    await patchSpec('edited', { strategy: { type: 'Recreate' } });
    const { spec } = await settled('edited', (d) => expect(d.spec?.strategy).toEqual({ type: 'Recreate' }));
    expect(spec?.minReadySeconds).toBe(5);
  });
});

describe('replicas', () => {
  it('are unchanged when the spec no longer names them, for an autoscaler to change', async () => {
    await createWatch('scaled', [web], { replicas: 10 });
    await settled('scaled', (d) => expect(d.spec?.replicas).toBe(10));
    const seen = new Set<number | undefined>();
    const stopFollowing = await follow(f.controlPlane, DEPLOYMENTS, ({ object: { metadata, spec } }) => {
      if (metadata?.name === 'scaled') seen.add(spec?.replicas);
    });
    await patchSpec('scaled', { replicas: null, minReadySeconds: 1 });
    await settled('scaled', (d) => expect(d.spec?.minReadySeconds).toBe(1));
    await stopFollowing();
    expect((await deployment('scaled')).spec?.replicas).toBe(10);
    expect(seen).toEqual(new Set([10]));
    await f.client.mergePatch(DEPLOYMENTS, ref('scaled'), { spec: { replicas: 4 } }, AUTOSCALER);
    await patchSpec('scaled', { minReadySeconds: 2 });
    const { spec } = await settled('scaled', (d) => expect(d.spec?.minReadySeconds).toBe(2));
    expect(spec?.replicas).toBe(4);
  });

  it('follow the spec again as soon as it has them', async () => {
    await patchSpec('scaled', { replicas: 2 });
    await settled('scaled', (d) => expect(d.spec?.replicas).toBe(2));
  });
});

describe('a Deployment that the API server refuses', () => {
  const refusals = async (): Promise<number> => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of await connected.transport.stream({ method: 'GET', path: '/metrics' })) {
      text += decoder.decode(bytes, { stream: true });
    }
    const lines = text
      .split('\n')
      .filter((l) => /^apiserver_request_total\{.*code="422".*resource="deployments"/.test(l));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  const stalled = async () => (await f.watch('refused')).status?.conditions?.find((c) => c.type === 'Stalled');

  it('is sent once, however many passes run, until the spec is corrected', async () => {
    const before = await refusals();
    await createWatch('refused', [{ ...web, image: 'web:1', ports: [{ containerPort: 99_999 }] }]);
    const isStalled = async () =>
      expect(await stalled()).toMatchObject({ status: 'True', reason: 'DeploymentInvalid' });
    await vi.waitFor(isStalled, WAIT);
    expect((await f.watch('refused')).status).toMatchObject({ ready: false });
    const begin = (await f.watch('refused')).status?.nodes?.n1?.time ?? 0;
    await vi.waitFor(async () => {
      expect((await f.watch('refused')).status?.nodes?.n1?.time ?? 0).toBeGreaterThan(begin + 4);
    }, WAIT);
    await isStalled();
    expect((await refusals()) - before).toBe(1);
    await patchSpec('refused', podSpec([web]));
    await settled('refused', expectApplied);
    await vi.waitFor(async () => expect(await stalled()).toMatchObject({ status: 'False' }), WAIT);
    await vi.waitFor(async () => expect((await f.watch('refused')).status).toMatchObject({ ready: true }), WAIT);
  });
});

describe('spec.placement', () => {
  const FIT = { matchExpressions: [{ key: unfitKey('placed'), operator: 'NotIn', values: ['true'] }] };
  const OWN = { weight: 7, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] } };
  const required = {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [FIT] },
    preferredDuringSchedulingIgnoredDuringExecution: [OWN],
  };
  const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [OWN, { weight: 100, preference: FIT }] };
  const place = (placement: Placement | null): Promise<unknown> => f.patchWatch('placed', { spec: { placement } });
  const isPlaced = (expected: V1NodeAffinity): Promise<V1Deployment> =>
    settled('placed', (d) => {
      expectApplied(d);
      expect(d.spec?.template.spec?.affinity?.nodeAffinity).toEqual(expected);
    });

  it('is Required where the spec does not say, and saying so does not roll the Deployment', async () => {
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [OWN] };
    await createWatch('placed', [web], {}, { affinity: { nodeAffinity } });
    const before = await isPlaced(required);
    await place('Required');
    await vi.waitFor(async () => {
      const { metadata, status } = await f.watch('placed');
      expect(status?.observedGeneration).toBe(metadata?.generation);
    }, WAIT);
    expect((await deployment('placed')).metadata?.generation).toBe(before.metadata?.generation);
  });

  it('moves between the terms when it changes, and the user’s own stay', async () => {
    await place('Preferred');
    await isPlaced(preferred);
    await place(null);
    await isPlaced(required);
  });
});
