import type { V1CustomResourceDefinition, V1JSONSchemaProps } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES, type TrafficWatch, type TrafficWatchStatus } from '../../src/api/trafficwatch/schema.ts';
import { FINALIZER } from '../../src/controllers/trafficwatch/names.ts';
import { DEPLOYMENTS, NODES } from '../../src/runtime/client/resources.ts';
import { writesOf } from '../harness/audit.ts';
import { CRDS, trafficWatchCrd } from '../harness/customResource.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { SPEED_BYTES } from '../harness/syntheticExporter.ts';

/**
 * The upgrade from the version whose spec had only EARLIER_SPEC: its CRD, its objects as it stored them, and its node
 * labels, with fit and unfit nodes under traffic. No label may change, whichever of CRD and operator is upgraded first.
 */
/** The operator looks for a newer CRD once a minute. */
const WAIT = { timeout: 150_000, interval: 200 };
const OPERATOR = 'operator-under-test';
/** It had the same name then. */
const MANAGER = { fieldManager: 'traffic-operator-trafficwatch' };
/**
 * A node without a figure in one pass is Unknown since then. So a pass has a deadline of 4 s, which the first one of a process needs on a
 * busy machine, and the window holds twenty scrapes.
 */
const WINDOW = '20s';
const PACE = ['--interval=5s', `--window=${WINDOW}`];
/** Two passes decide a verdict. */
const PASSES = 3;
const PERCENTS = { n1: 60, n2: 1, n3: 15 };

const EARLIER_SPEC = ['maxBandwidthPercent', 'label', 'placement', 'deployment'];
const EARLIER_STATUS = [
  'ready',
  'decided',
  'observedGeneration',
  'labelKey',
  'fitNodes',
  'unfitNodes',
  'unknownNodes',
  'nodes',
  'conditions',
];
const EARLIER_NODE = ['currentBandwidthPercent', 'currentTransmitTotal', 'time', 'unfit', 'verdict', 'reason', 'since'];

type Properties = Record<string, V1JSONSchemaProps>;
const keep = (properties: Properties = {}, fields: readonly string[]): Properties =>
  Object.fromEntries(Object.entries(properties).filter(([field]) => fields.includes(field)));

/** The CRD of that version, which is this one without the fields that came later, and without their rules. */
function earlierCrd(): V1CustomResourceDefinition {
  const crd = trafficWatchCrd();
  const [version] = crd.spec.versions;
  const schema = version!.schema!.openAPIV3Schema! as V1JSONSchemaProps & Record<string, unknown>;
  const { spec, status } = schema.properties as {
    spec: V1JSONSchemaProps & Record<string, unknown>;
    status: V1JSONSchemaProps;
  };
  spec.properties = keep(spec.properties, EARLIER_SPEC);
  spec.required = ['maxBandwidthPercent', 'deployment'];
  delete spec['x-kubernetes-validations'];
  status.properties = keep(status.properties, EARLIER_STATUS);
  const node = status.properties.nodes!.additionalProperties as V1JSONSchemaProps;
  node.properties = keep(node.properties, EARLIER_NODE);
  delete schema['x-kubernetes-validations'];
  delete version!.additionalPrinterColumns;
  return crd;
}

interface Earlier {
  readonly spec: Omit<TrafficWatch['spec'], 'deployment'>;
  readonly key: string;
  readonly affinity: object;
  readonly unfit: readonly string[];
}

const term = (key: string) => ({ matchExpressions: [{ key, operator: 'NotIn', values: ['true'] }] });
const WEB = 'web.traffic.example.com/unfit';
const POOL = 'pool.traffic.example.com/unfit';
/** n3 is fit for one and unfit for the other. */
const EARLIER: Record<string, Earlier> = {
  web: {
    spec: { maxBandwidthPercent: '20' },
    key: WEB,
    affinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term(WEB)] } },
    unfit: ['n1'],
  },
  db: {
    spec: { maxBandwidthPercent: '10', label: 'pool', placement: 'Preferred' },
    key: POOL,
    affinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference: term(POOL) }] },
    unfit: ['n1', 'n3'],
  },
};

const STORED_AT = '2026-01-01T00:00:00Z';

/** As that version wrote it. */
function statusOf({ key, unfit }: Earlier): TrafficWatchStatus {
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    observedGeneration: 1,
    lastTransitionTime: STORED_AT,
  });
  const nodes = Object.entries(PERCENTS).map(([name, percent]) => {
    const isUnfit = unfit.includes(name);
    const verdict = isUnfit ? 'Unfit' : 'Fit';
    const reason = isUnfit ? 'AboveThreshold' : 'BelowThreshold';
    const currentBandwidthPercent = percent.toExponential(7);
    return [name, { currentBandwidthPercent, time: 1, unfit: isUnfit, verdict, reason, since: STORED_AT }];
  });
  return {
    ready: true,
    decided: true,
    observedGeneration: 1,
    labelKey: key,
    fitNodes: nodes.length - unfit.length,
    unfitNodes: unfit.length,
    unknownNodes: 0,
    nodes: Object.fromEntries(nodes) as TrafficWatchStatus['nodes'],
    conditions: [
      condition('Ready', 'True', 'Decided', 'nodes are decided; their labels say the verdicts'),
      condition('Reconciling', 'False', 'UpToDate', 'everything that was decided is written'),
      condition('Stalled', 'False', 'NotStalled', 'nothing stands in the way'),
      condition('PrometheusReachable', 'True', 'PrometheusAnswers', 'the last pass had an answer'),
      condition('MetricsAvailable', 'True', 'AllMeasured', 'every node has figures'),
    ] as TrafficWatchStatus['conditions'],
  };
}

let f: Fixture;

/** Creates the objects that the version left: a TrafficWatch with finalizer and status, its Deployment and its labels. */
async function store(name: string, earlier: Earlier): Promise<void> {
  const ref = { namespace: 'default', name };
  const { spec, key, affinity, unfit } = earlier;
  await f.createWatch(name, spec);
  await f.client.mergePatch(TRAFFIC_WATCHES, ref, { metadata: { finalizers: [FINALIZER] } }, MANAGER);
  await f.client.mergePatch(TRAFFIC_WATCHES, ref, { status: statusOf(earlier) }, { ...MANAGER, subresource: 'status' });
  for (const node of Object.keys(PERCENTS)) {
    const labels = { [key]: String(unfit.includes(node)) };
    await f.client.mergePatch(NODES, { name: node }, { metadata: { labels } }, MANAGER);
  }
  const { metadata, spec: stored } = await f.watch(name);
  const { template, ...rest } = stored.deployment!;
  const owner = { apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficWatch', name, uid: metadata!.uid! };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...ref,
      labels: { 'app.kubernetes.io/managed-by': 'traffic-operator' },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: { ...rest, template: { ...template, spec: { ...template.spec, affinity: { nodeAffinity: affinity } } } },
  };
  await f.client.apply(DEPLOYMENTS, deployment as never, MANAGER);
}

/** Until the window of rate() is full, as it is on a Prometheus that has run all the time. */
async function untilMeasured(): Promise<void> {
  const url = `${f.prometheusUrl}/api/v1/query?query=rate(node_network_transmit_bytes_total[${WINDOW}])`;
  await vi.waitFor(async () => {
    const { data } = (await (await fetch(url)).json()) as {
      data: { result: { metric: { node: keyof typeof PERCENTS }; value: [number, string] }[] };
    };
    expect(data.result).toHaveLength(Object.keys(PERCENTS).length);
    for (const { metric, value } of data.result) {
      expect((100 * Number(value[1])) / SPEED_BYTES).toBeCloseTo(PERCENTS[metric.node], 0);
    }
  }, WAIT);
}

async function start(): Promise<void> {
  const kubeconfig = await f.controlPlane.user(OPERATOR, ['system:masters']);
  await f.startOperator([], { kubeconfig, pace: PACE });
}

async function upgradeCrd(): Promise<void> {
  const { metadata, spec } = trafficWatchCrd();
  const patch = { spec: { versions: spec.versions } };
  await f.client.mergePatch(CRDS, { name: metadata!.name! }, patch, { fieldManager: 'helm' });
}

async function afterPasses(count: number): Promise<void> {
  const passes = async (): Promise<number> => (await metricsOf(f.operator())).sum('passes_total');
  const before = await passes();
  await vi.waitFor(async () => expect(await passes()).toBeGreaterThanOrEqual(before + count), WAIT);
}

async function untilStalled(): Promise<void> {
  await vi.waitFor(async () => {
    for (const name of Object.keys(EARLIER)) {
      expect((await f.events(name)).map(({ reason }) => reason)).toContain('CrdOutdated');
    }
  }, WAIT);
}

beforeEach(async () => {
  f = await startFixture({ nodes: Object.keys(PERCENTS), crd: earlierCrd(), withTimes: true });
  for (const [node, percent] of Object.entries(PERCENTS)) f.exporter.setPercent(node, percent);
  for (const [name, earlier] of Object.entries(EARLIER)) await store(name, earlier);
  await untilMeasured();
});
afterEach(() => f.stop());

const deployments = async () => (await f.client.list(DEPLOYMENTS)).map(({ metadata, spec }) => [metadata?.name, spec]);

describe('an upgrade from a version without the newer fields', { timeout: 600_000 }, () => {
  it.each<[string, () => Promise<unknown>]>([
    ['the CRD first', () => upgradeCrd().then(start)],
    ['the operator first, which waits for the CRD', () => start().then(untilStalled).then(upgradeCrd)],
  ])('changes no label and rolls no Deployment: %s', async (_order, upgrade) => {
    const before = await f.nodeVersions();
    const running = await deployments();
    await upgrade();
    await vi.waitFor(async () => {
      for (const name of Object.keys(EARLIER)) {
        const { status, spec } = await f.watch(name);
        expect(status).toMatchObject({ mode: 'Enforce', ready: true });
        expect(status?.nodes?.n1).toMatchObject({ capacitySource: 'Series', since: STORED_AT });
        expect(Object.keys(spec).every((field) => EARLIER_SPEC.includes(field))).toBe(true);
      }
    }, WAIT);
    await afterPasses(PASSES);
    expect(await f.nodeVersions()).toEqual(before);
    expect(writesOf(f.controlPlane, OPERATOR).filter(({ resource }) => resource.startsWith('nodes'))).toEqual([]);
    expect(await deployments()).toEqual(running);

    // It is at work all the same.
    f.exporter.setPercent('n1', 1);
    await vi.waitFor(async () => expect(await f.labels(WEB)).toEqual({ n1: 'false', n2: 'false', n3: 'false' }), WAIT);
  });
});
