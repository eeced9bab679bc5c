import type { V1Deployment } from '@kubernetes/client-node';
import type { Mode } from '../../../api/trafficwatch/spec/mode.ts';
import { nodeSelectorOf } from '../../../api/trafficwatch/spec/nodeSelector.ts';
import type { Placement } from '../../../api/trafficwatch/spec/placement.ts';
import type { LabelSelector } from '../../../api/labelSelector.ts';
import { isLabelKey } from '../../../api/trafficwatch/labelKey.ts';
import type { TrafficWatch, TrafficWatchStatus } from '../../../api/trafficwatch/schema.ts';
import type { NodeUsage } from '../../../usage/evaluate/percent.ts';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import type { TargetRef } from '../../../api/trafficwatch/spec/workload.ts';
import { ownerReferenceOf, type WithDeployment } from '../decide/deployment.ts';
import { FINALIZER } from '../names.ts';
import { labelKeysOf, type Claim } from '../model/labelKeys.ts';
import type { ForeignWorkload, NodeView, Observation, PassView } from '../observe/observation.ts';
import { PassViews } from '../observe/passViews.ts';
import { placementEntryOf } from '../decide/workload/podPlacement.ts';

/** Builders for tests of decisions: each starts from a plain, healthy state, of which a test changes one thing. */

export const NOW = Date.parse('2026-01-01T00:10:00Z');
/** The key of `aWatch()`. */
export const KEY = 'web.shop.traffic.example.com/unfit';

/** The passes of a spec without `passes`. */
export const TWO_PASSES = { unfit: 2, fit: 2 };

export interface WatchChanges {
  maxBandwidthPercent?: string;
  recoverBandwidthPercent?: string;
  passes?: { unfit?: number; fit?: number };
  minHold?: string;
  missingData?: { policy?: 'Hold' | 'Unfit' | 'Fit'; holdFor?: string };
  label?: string;
  mode?: Mode;
  placement?: Placement;
  nodeSelector?: LabelSelector | undefined;
  deployment?: Record<string, unknown>;
  metadata?: TrafficWatch['metadata'];
  status?: TrafficWatchStatus;
}

/** A TrafficWatch shop/web with a threshold of 10 percent, made ten minutes ago. */
export function aWatch(changes: WatchChanges = {}): WithDeployment {
  const template = {
    metadata: { labels: { app: 'web', tier: 'front' } },
    spec: { containers: [{ name: 'web', image: 'web:1' }] },
  };
  return {
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: 'uid-web',
      generation: 1,
      creationTimestamp: new Date('2026-01-01T00:00:00Z'),
      ...changes.metadata,
    },
    spec: {
      maxBandwidthPercent: changes.maxBandwidthPercent ?? '10',
      ...(changes.label === undefined ? {} : { label: changes.label }),
      ...(changes.mode === undefined ? {} : { mode: changes.mode }),
      ...(changes.minHold === undefined ? {} : { minHold: changes.minHold }),
      ...(changes.missingData === undefined ? {} : { missingData: changes.missingData }),
      ...(changes.passes === undefined ? {} : { passes: changes.passes }),
      ...(changes.recoverBandwidthPercent === undefined
        ? {}
        : { recoverBandwidthPercent: changes.recoverBandwidthPercent }),
      ...(changes.placement === undefined ? {} : { placement: changes.placement }),
      ...(changes.nodeSelector === undefined ? {} : { nodeSelector: changes.nodeSelector }),
      deployment: { selector: { matchLabels: { app: 'web' } }, template, ...changes.deployment },
    },
    ...(changes.status === undefined ? {} : { status: changes.status }),
  };
}

/** Changes of a TrafficWatch that has labelled nodes under KEY: labels there are its own. */
export const LABELLING: Required<Pick<WatchChanges, 'metadata' | 'status'>> = {
  metadata: { finalizers: [FINALIZER] },
  status: { labelKey: KEY, mode: 'Enforce' },
};

/** The same, for a workload of others. */
export function aForeignWatch(
  workload: { targetRef: TargetRef } | { podSelector: LabelSelector },
  changes: WatchChanges = {},
): TrafficWatch {
  const watch = aWatch(changes);
  return { ...watch, spec: { ...watch.spec, deployment: undefined, ...workload } };
}

/** A workload of others, with the policy, whose PodPlacement has the entry of the TrafficWatch. */
export function aWorkload(
  watch: TrafficWatch,
  podSelector: LabelSelector,
  changes: Partial<ForeignWorkload> = {},
): ForeignWorkload {
  const status = { labelKey: watch.status?.labelKey ?? KEY, podSelector };
  return {
    target: undefined,
    policy: { reason: 'PolicyInstalled', message: '' },
    placed: { entry: placementEntryOf({ ...watch, status }) },
    ...changes,
  };
}

/** A measured node. */
export function usage(node: string, percent: number | undefined, changes: Partial<NodeUsage> = {}): NodeUsage {
  return {
    node,
    ...(percent === undefined ? {} : { percent, transmitBytesTotal: 123456 }),
    devices: ['eth0'],
    timeSeconds: NOW / 1000,
    reason: percent === undefined ? 'NoSeries' : 'Measured',
    ...changes,
  };
}

/** A pass that answered, with the percents given by node, all of `changes.timeSeconds`; undefined is a node without a figure. */
export function pass(
  n: number,
  percents: Record<string, number | undefined>,
  changes: Partial<Snapshot> = {},
): Snapshot {
  const { timeSeconds = NOW / 1000 } = changes;
  return {
    pass: n,
    startedAt: NOW,
    timeSeconds,
    ok: true,
    warnings: [],
    nodes: new Map(Object.entries(percents).map(([node, percent]) => [node, usage(node, percent, { timeSeconds })])),
    unmatchedSeries: 0,
    ambiguousSeries: 0,
    unmatchedExamples: [],
    ambiguousExamples: [],
    ...changes,
  };
}

/** A pass in which Prometheus did not answer. */
export function failedPass(n: number, reason = 'Unreachable'): Snapshot {
  const message = reason === 'Unreachable' ? 'connection refused' : `a pass that ended in ${reason}`;
  return pass(n, {}, { ok: false, error: { reason, message } });
}

/** Its Deployment as it is in the cluster, scheduled by `labelKey`. */
export function aDeployment(watch: WithDeployment, labelKey = KEY): V1Deployment {
  const requirement = { key: labelKey, operator: 'NotIn', values: ['true'] };
  const terms = { nodeSelectorTerms: [{ matchExpressions: [requirement] }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
  const { template, ...spec } = watch.spec.deployment;
  return {
    metadata: { name: 'web', namespace: 'shop', uid: 'uid-deployment', ownerReferences: [ownerReferenceOf(watch)] },
    spec: { ...spec, template: { ...template, spec: { ...template.spec!, affinity } } },
  };
}

export function aClaim(changes: Partial<Claim> = {}): Claim {
  return {
    uid: 'uid-other',
    key: 'shop/other',
    creationTimestamp: '2025-12-31T00:00:00.000Z',
    bySpec: true,
    isNative: true,
    ...changes,
  };
}

export interface ObservationChanges extends Partial<Omit<Observation, 'keys' | 'view'>> {
  passes?: readonly Snapshot[];
  /** Node name -> its labels: those that end in the operator's suffix, and those that selectors read. */
  nodes?: Record<string, Record<string, string>>;
  /** Replaces the newest pass. */
  newest?: Snapshot;
}

const BOTH_FIT = { n1: 1, n2: 2 };

/** Two nodes, two passes that agree that both are fit, no labels yet, no Deployment yet. */
export function anObservation({ nodes, passes, newest, ...changes }: ObservationChanges = {}): Observation {
  const { watch = aWatch() } = changes;
  const views = Object.entries(nodes ?? { n1: {}, n2: {} }).map(([name, labels]) => viewOf(name, labels));
  return {
    watch,
    keys: labelKeysOf(watch),
    claims: new Map(),
    deployment: undefined,
    notMeasurable: new Map(),
    measurementProblems: [],
    feedStartedAt: NOW - 300_000,
    now: NOW,
    ...changes,
    view: aView(views, withNewest(passes ?? [pass(2, BOTH_FIT), pass(1, BOTH_FIT)], newest), watch),
  };
}

function viewOf(name: string, labels: Record<string, string>): NodeView {
  const others = Object.entries(labels).filter(([key]) => !isLabelKey(key));
  const own = Object.fromEntries(Object.entries(labels).filter(([key]) => isLabelKey(key)));
  const otherLabels = { keys: others.map(([key]) => key), values: others.map(([, value]) => value) };
  return { name, labels: own, createdAt: 0, ...(others.length > 0 && { otherLabels }) };
}

/** A view of these nodes and passes that is shared with nobody. The TrafficWatch says which nodes are selected. */
function aView(
  nodes: readonly NodeView[],
  passes: readonly Snapshot[],
  { spec }: Pick<TrafficWatch, 'spec'> = aWatch(),
): PassView {
  return new PassViews().viewOf(nodes, passes, { selector: nodeSelectorOf(spec) });
}

function withNewest(passes: readonly Snapshot[], newest: Snapshot | undefined): readonly Snapshot[] {
  return newest === undefined ? passes : [newest, ...passes.slice(1)];
}

export interface LaterChanges extends Partial<Omit<Observation, 'keys' | 'view'>> {
  nodes?: readonly NodeView[];
  passes?: readonly Snapshot[];
  /** Replaces the newest pass. */
  newest?: Snapshot;
}

/** The same observation, of which some things have changed, and with them what follows from them. */
export function changed(o: Observation, { nodes, passes, newest, ...changes }: LaterChanges): Observation {
  const { watch = o.watch } = changes;
  const all = nodes ?? [...o.view.nodes, ...o.view.outside];
  const view = aView(all, withNewest(passes ?? o.view.passes, newest), watch);
  return { ...o, ...changes, keys: labelKeysOf(watch), view };
}
