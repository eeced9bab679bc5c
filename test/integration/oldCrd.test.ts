import type { EventsV1Event, V1CustomResourceDefinition, V1JSONSchemaProps } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { PUBLISHED_AFTER_MS } from '../../src/controllers/trafficwatch/observe/crdFields.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { untilQuiet } from '../harness/audit.ts';
import { measured } from '../harness/measured.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { CRDS, installCrd, removeCrd, trafficWatchCrd } from '../harness/customResource.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * A CRD that is not there, as after `kubectl apply -k deploy` alone, that is deleted, or that is older than the operator: the API server
 * drops what that one does not know.
 */
const WAIT = { timeout: 90_000, interval: 200 };
const PASSES = 5;
const OPERATOR = 'operator-under-test';
const MISSING =
  'the CRD is not installed, and the operator waits for it: helm upgrade with crds.enabled=true, or kubectl';
const ref = (name: string) => ({ namespace: 'default', name });

interface Properties {
  readonly spec: V1JSONSchemaProps;
  readonly status: V1JSONSchemaProps;
}

/** The CRD of this version with a changed schema. */
function crdWithout(change: (properties: Properties) => void): V1CustomResourceDefinition {
  const crd = trafficWatchCrd();
  const [version] = crd.spec.versions;
  change(version!.schema!.openAPIV3Schema!.properties as unknown as Properties);
  // The API server would refuse rules and columns about missing fields.
  delete (version!.schema!.openAPIV3Schema as Record<string, unknown>)['x-kubernetes-validations'];
  delete version!.additionalPrinterColumns;
  return crd;
}

/** The CRD of PKopel/traffic-operator: its status has `ready` and four figures for each node. */
const OF_PKOPEL = crdWithout(({ status }) => {
  const { ready, nodes } = status.properties!;
  const node = nodes!.additionalProperties as V1JSONSchemaProps;
  const known = ['currentBandwidthPercent', 'currentTransmitTotal', 'time', 'unfit'];
  node.properties = Object.fromEntries(Object.entries(node.properties!).filter(([field]) => known.includes(field)));
  status.properties = { ready: ready!, nodes: nodes! };
});
const WITHOUT_LABEL_AND_SELECTOR = crdWithout(({ spec }) => {
  delete spec.properties!.label;
  delete spec.properties!.nodeSelector;
});

let f: Fixture;

const useCrd = ({ metadata, spec: { versions } }: V1CustomResourceDefinition): Promise<unknown> =>
  f.client.mergePatch(CRDS, { name: metadata!.name! }, { spec: { versions } }, { fieldManager: 'person' });

async function warning(name: string): Promise<EventsV1Event> {
  return vi.waitFor(async () => {
    const found = (await f.events(name)).find(({ reason }) => reason === 'CrdOutdated');
    expect(found).toBeDefined();
    return found!;
  }, WAIT);
}

async function afterPasses(count: number): Promise<void> {
  const passes = async (): Promise<number> => (await metricsOf(f.operator())).sum('passes_total');
  const before = await passes();
  await vi.waitFor(async () => expect(await passes()).toBeGreaterThanOrEqual(before + count), WAIT);
}

const stalled = async (name: string) =>
  (await f.watch(name)).status?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True');
const affinityOf = async (name: string): Promise<string> =>
  JSON.stringify((await f.client.get(DEPLOYMENTS, ref(name))).spec?.template.spec?.affinity);

describe('no CRD', () => {
  /** Status and body. */
  async function readiness(): Promise<[number, string]> {
    const answer = await fetch(`${f.operator().healthUrl}/readyz?verbose`);
    return [answer.status, await answer.text()];
  }
  const times = (text: string): number => f.operator().log().split(text).length - 1;

  beforeAll(async () => {
    f = await startFixture({ nodes: ['n1', 'n2'], crd: 'none' });
  });

  it('is reported, and nothing is ready, until there is one', async () => {
    await f.startOperator([], { until: 'alive' });
    await vi.waitFor(async () => {
      expect(times(MISSING)).toBe(1);
      const [status, body] = await readiness();
      expect(status).not.toBe(200);
      expect(body).toContain('the API server does not serve trafficwatches.traffic.example.com');
    }, WAIT);
    await installCrd(f.client);
    await f.createWatch('first', { maxBandwidthPercent: '10' });
    await vi.waitFor(async () => expect(await f.labels(unfitKey('first'))).toEqual({ n1: 'false', n2: 'false' }), WAIT);
    // The nodes may be labelled before the caches of other kinds are synced.
    await vi.waitFor(async () => expect((await readiness())[0]).toBe(200), WAIT);
    expect(times('the CRD is installed')).toBe(1);
  });

  it('while the operator runs: labels are removed, and return with a new CRD', async () => {
    await removeCrd(f.client);
    await vi.waitFor(async () => {
      expect(await f.labels(unfitKey('first'))).toEqual({});
      await expect(f.client.list(TRAFFIC_WATCHES)).rejects.toMatchObject({ status: 404 });
      expect(times(MISSING)).toBe(2);
    }, WAIT);
    await installCrd(f.client);
    // With another name: the Deployment of the first one stays, because no garbage collector runs here.
    await f.createWatch('other', { maxBandwidthPercent: '10' });
    await vi.waitFor(async () => expect(await f.labels(unfitKey('other'))).toEqual({ n1: 'false', n2: 'false' }), WAIT);
  });
});

// upgrade.test.ts has the CRD of this version after that, which the operator waits for.
describe('a CRD without most of the status', () => {
  beforeAll(async () => {
    await f.stopOperator();
    await removeCrd(f.client);
    // The finalizer is of an operator that does not run.
    await f.patchWatch('other', { metadata: { finalizers: null } });
    await vi.waitFor(() => expect(f.client.list(TRAFFIC_WATCHES)).rejects.toMatchObject({ status: 404 }), WAIT);
    await installCrd(f.client, OF_PKOPEL);
    f.exporter.setPercent('n1', 50);
    await f.createWatch('web', { maxBandwidthPercent: '10' });
    await f.startOperator([], { kubeconfig: await f.controlPlane.user(OPERATOR, ['system:masters']) });
  });
  afterAll(() => f.stop());

  it('is named in the event, the log and what is left of the status, and nothing else is written', async () => {
    const { type, note } = await warning('web');
    expect(type).toBe('Warning');
    for (const field of ['status.labelKey', 'status.conditions', 'status.nodes.*.verdict', 'kubectl apply']) {
      expect(note).toContain(field);
    }
    expect(f.operator().log()).toMatch(/"level":"?(40|warn)"?.*older than the operator/);
    await afterPasses(PASSES);
    expect((await f.watch('web')).status).toMatchObject({ ready: false });
    expect((await f.watch('web')).metadata?.finalizers).toBeUndefined();
    expect(await f.labels(unfitKey('web'))).toEqual({});
    await expect(f.client.get(DEPLOYMENTS, ref('web'))).rejects.toMatchObject({ status: 404 });
  });

  it('has the status written once, not at every pass, while nothing changes', async () => {
    const lastEvents = async (): Promise<string> =>
      JSON.stringify((await f.events('web')).map(({ metadata }) => [metadata?.name, metadata?.resourceVersion]).sort());
    // Counts writes: a write of only dropped fields does not change the resource version.
    const writes = async (): Promise<number> =>
      (await metricsOf(f.operator())).sum('writes_total', { kind: 'TrafficWatch' });
    const state = async (): Promise<[number, string | undefined, string]> => [
      await writes(),
      (await f.watch('web')).metadata?.resourceVersion,
      await lastEvents(),
    ];
    // What it had to write, it may write late.
    await untilQuiet(f.controlPlane, OPERATOR);
    const before = await state();
    await afterPasses(PASSES);
    expect(await state()).toEqual(before);
    measured(`a CRD without most of the status: 0 writes of it and of its events in ${PASSES} passes`);
  });
});

describe('a CRD without spec.label and spec.nodeSelector instead of this version’s', () => {
  const WORKERS = { matchLabels: { role: 'worker' } };
  let before: Record<string, string | undefined>;

  /** Expects that the labels of nodes and the Deployment have not moved to other keys or other nodes. */
  async function expectUntouched(): Promise<void> {
    expect(await f.nodeVersions()).toEqual(before);
    expect(await f.labels(unfitKey('pool'))).toEqual({ n1: 'true' });
    expect(await affinityOf('web')).toContain(unfitKey('pool'));
  }

  beforeAll(async () => {
    f = await startFixture({ nodes: ['n1', 'cp1'] });
    f.exporter.setPercent('n1', 50);
    f.exporter.setPercent('cp1', 90);
    await f.setLabels('n1', { role: 'worker' });
    await f.createWatch('web', { maxBandwidthPercent: '10', label: 'pool', nodeSelector: WORKERS });
    await f.createWatch('other', { maxBandwidthPercent: '10' });
    await f.startOperator();
    await vi.waitFor(async () => {
      expect(await f.labels(unfitKey('pool'))).toEqual({ n1: 'true' });
      expect(await f.labels(unfitKey('other'))).toEqual({ n1: 'true', cp1: 'true' });
      expect(await affinityOf('web')).toContain(unfitKey('pool'));
      for (const name of ['web', 'other']) expect((await f.watch(name)).status?.ready).toBe(true);
    }, WAIT);
    before = await f.nodeVersions();
  });
  afterAll(() => f.stop());

  /** The API server drops both fields from now on. */
  async function drop(): Promise<void> {
    await useCrd(WITHOUT_LABEL_AND_SELECTOR);
    await vi.waitFor(async () => expect((await f.watch('web')).spec).not.toHaveProperty('label'), WAIT);
    expect((await f.watch('web')).spec).not.toHaveProperty('nodeSelector');
  }

  async function expectOutdated(): Promise<void> {
    for (const name of ['web', 'other']) {
      expect((await warning(name)).note).toMatch(/drops spec\.(nodeSelector, spec\.label|label, spec\.nodeSelector);/);
      await vi.waitFor(async () => expect(await stalled(name)).toMatchObject({ reason: 'CrdOutdated' }), WAIT);
    }
  }

  it('moves no label to another key, and labels no node that the selector left out', async () => {
    expect((await f.events('web')).map(({ reason }) => reason)).not.toContain('CrdOutdated');
    await drop();
    await afterPasses(PASSES);
    await expectUntouched();
    await expectOutdated();
  });

  it('keeps the TrafficWatch stalled with the CRD of this version, also after a restart: the fields are lost', async () => {
    await useCrd(trafficWatchCrd());
    await vi.waitFor(async () => expect(await stalled('web')).toMatchObject({ reason: 'SpecFieldsLost' }), WAIT);
    expect((await f.watch('web')).spec).not.toHaveProperty('nodeSelector');
    const told = await stalled('web');
    expect(told?.message).toMatch(
      /dropped spec\.nodeSelector, spec\.label, |dropped spec\.label, spec\.nodeSelector, /,
    );
    await f.restartOperator();
    await afterPasses(PASSES);
    expect(await stalled('web')).toEqual(told);
    await expectUntouched();
  });

  it('continues when the TrafficWatch is applied again', async () => {
    await f.patchWatch('web', { spec: { label: 'pool', nodeSelector: WORKERS } });
    await vi.waitFor(async () => {
      expect(await stalled('web')).toBeUndefined();
      expect((await f.watch('web')).status?.ready).toBe(true);
    }, WAIT);
    await afterPasses(PASSES);
    await expectUntouched();
  });

  it('moves nothing either if the operator starts while the published schema may be older', async () => {
    await drop();
    await f.restartOperator();
    // A pass takes a second: until the operator trusts the published schema.
    await afterPasses(PUBLISHED_AFTER_MS / 1_000 + PASSES);
    await expectUntouched();
    await expectOutdated();
  });
});
