import type { EventsV1Event, V1CustomResourceDefinition, V1JSONSchemaProps } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PUBLISHED_AFTER_MS } from '../../src/controllers/trafficwatch/observe/crd/crdCheck.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { untilQuiet } from '../harness/audit.ts';
import { measured } from '../harness/measured.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { CRDS, trafficWatchCrd } from '../harness/customResource.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';

/** A CRD that is older than the operator, on a real API server, which drops what that CRD does not know. */
const WAIT = { timeout: 90_000, interval: 200 };
const PASSES = 5;
const OPERATOR = 'operator-under-test';
const key = (label: string): string => `${label}.traffic.example.com/unfit`;
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
const WITHOUT_LABEL = crdWithout(({ spec }) => {
  delete spec.properties!.label;
});

let f: Fixture;

async function warning(name: string): Promise<EventsV1Event> {
  return vi.waitFor(async () => {
    const found = (await f.events(name)).find(({ reason }) => reason === 'CrdOutdated');
    expect(found).toBeDefined();
    return found!;
  }, WAIT);
}

async function passes(): Promise<number> {
  const text = await (await fetch(f.operator().metricsUrl)).text();
  const samples = [...text.matchAll(/^traffic_operator_passes_total\{.*\} (\d+)$/gm)];
  return samples.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function afterPasses(count: number): Promise<void> {
  const before = await passes();
  await vi.waitFor(async () => expect(await passes()).toBeGreaterThanOrEqual(before + count), WAIT);
}

const affinityOf = async (name: string): Promise<string> =>
  JSON.stringify((await f.client.get(DEPLOYMENTS, ref(name))).spec?.template.spec?.affinity);

describe('a CRD without most of the status', () => {
  beforeAll(async () => {
    f = await startFixture({ nodes: ['n1', 'n2'], crd: OF_PKOPEL });
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
    expect(await f.labels(key('web'))).toEqual({});
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

  it('is waited for: with the CRD of this version all goes on', async () => {
    const { name } = trafficWatchCrd().metadata!;
    const { versions } = trafficWatchCrd().spec;
    await f.client.mergePatch(CRDS, { name: name! }, { spec: { versions } }, { fieldManager: 'person' });
    await vi.waitFor(async () => {
      expect(await f.labels(key('web'))).toEqual({ n1: 'true', n2: 'false' });
      expect(await affinityOf('web')).toContain(key('web'));
      expect((await f.watch('web')).status).toMatchObject({ ready: true });
    }, WAIT);
  });
});

describe('a CRD without spec.label in place of this version’s', () => {
  beforeAll(async () => {
    f = await startFixture({ nodes: ['n1', 'n2'] });
    f.exporter.setPercent('n1', 50);
    await f.createWatch('web', { maxBandwidthPercent: '10', label: 'pool' });
    await f.createWatch('other', { maxBandwidthPercent: '10' });
    await f.startOperator();
    await vi.waitFor(async () => {
      expect(await f.labels(key('pool'))).toEqual({ n1: 'true', n2: 'false' });
      expect(await affinityOf('web')).toContain(key('pool'));
      expect((await f.watch('web')).status?.ready).toBe(true);
      expect((await f.watch('other')).status?.ready).toBe(true);
    }, WAIT);
  });
  afterAll(() => f.stop());

  it('moves no label to another key, running or restarted', async () => {
    expect((await f.events('web')).map(({ reason }) => reason)).not.toContain('CrdOutdated');
    const before = await f.nodeVersions();
    const { versions } = WITHOUT_LABEL.spec;
    const name = WITHOUT_LABEL.metadata!.name!;
    await f.client.mergePatch(CRDS, { name }, { spec: { versions } }, { fieldManager: 'person' });
    await vi.waitFor(async () => expect((await f.watch('web')).spec).not.toHaveProperty('label'), WAIT);
    await afterPasses(PASSES);
    await f.restartOperator();
    // A pass takes a second: until the operator trusts the published schema.
    await afterPasses(PUBLISHED_AFTER_MS / 1_000 + PASSES);
    expect(await f.nodeVersions()).toEqual(before);
    expect(await f.labels(key('pool'))).toEqual({ n1: 'true', n2: 'false' });
    expect(await affinityOf('web')).toContain(key('pool'));
    for (const watch of ['web', 'other']) {
      expect((await warning(watch)).note).toContain('drops spec.label;');
      await vi.waitFor(async () => {
        const stalled = (await f.watch(watch)).status?.conditions?.find(({ type }) => type === 'Stalled');
        expect(stalled).toMatchObject({ status: 'True', reason: 'CrdOutdated' });
      }, WAIT);
    }
  });
});

describe('a CRD without spec.nodeSelector in place of this version’s', () => {
  const WORKERS = { matchLabels: { role: 'worker' } };
  const { name } = trafficWatchCrd().metadata!;
  const useCrd = ({ spec: { versions } }: V1CustomResourceDefinition): Promise<unknown> =>
    f.client.mergePatch(CRDS, { name: name! }, { spec: { versions } }, { fieldManager: 'person' });
  const stalledReason = async (): Promise<string | undefined> =>
    (await f.watch('web')).status?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True')
      ?.reason;
  const expectWorkersOnly = async (): Promise<void> => {
    await afterPasses(PASSES);
    expect(Object.keys(await f.labels(key('web')))).toEqual(['n1']);
  };

  beforeAll(async () => {
    f = await startFixture({ nodes: ['n1', 'cp1'] });
    await f.setLabels('n1', { role: 'worker' });
    f.exporter.setPercent('cp1', 90);
    await f.createWatch('web', { maxBandwidthPercent: '10', nodeSelector: WORKERS });
    await f.startOperator();
    await vi.waitFor(async () => expect((await f.watch('web')).status?.ready).toBe(true), WAIT);
    await expectWorkersOnly();
  });
  afterAll(() => f.stop());

  it('labels no node that the selector left out', async () => {
    await useCrd(
      crdWithout(({ spec }) => {
        delete spec.properties!.nodeSelector;
      }),
    );
    await vi.waitFor(async () => expect((await f.watch('web')).spec).not.toHaveProperty('nodeSelector'), WAIT);
    await expectWorkersOnly();
    await vi.waitFor(async () => expect(await stalledReason()).toBe('CrdOutdated'), WAIT);
  });

  it('stays stalled with the CRD of this version, also after a restart: the field is lost', async () => {
    await useCrd(trafficWatchCrd());
    await vi.waitFor(async () => expect(await stalledReason()).toBe('SpecFieldsLost'), WAIT);
    expect((await f.watch('web')).spec).not.toHaveProperty('nodeSelector');
    const stalled = (await f.watch('web')).status?.conditions?.find(({ type }) => type === 'Stalled');
    expect(stalled?.message).toMatch(/dropped spec\.nodeSelector, /);
    await f.restartOperator();
    await expectWorkersOnly();
    expect((await f.watch('web')).status?.conditions?.find(({ type }) => type === 'Stalled')).toEqual(stalled);
  });

  it('continues when the TrafficWatch is applied again', async () => {
    await f.patchWatch('web', { spec: { nodeSelector: WORKERS } });
    await vi.waitFor(async () => {
      expect(await stalledReason()).toBeUndefined();
      expect((await f.watch('web')).status?.ready).toBe(true);
    }, WAIT);
    await expectWorkersOnly();
  });
});
