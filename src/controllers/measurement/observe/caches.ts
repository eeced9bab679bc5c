import type { V1ConfigMap, V1EndpointSlice, V1Pod } from '@kubernetes/client-node';
import type { Clock } from '../../../runtime/process/clock.ts';
import {
  isKnown,
  createInformer,
  withoutManagedFields,
  type Informer,
  type InformerOptions,
  type ReflectorMetrics,
} from '../../../runtime/cache/informer.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { ENDPOINT_SLICES, PODS, SERVICE_NAME_LABEL } from '../../../runtime/client/resources.ts';
import type { Transport } from '../../../runtime/client/transport.ts';
import type { Member } from '../../../runtime/objectSet/objectSet.ts';
import type { Problem } from '../../../runtime/process/problem.ts';
import { refusalOf, watchMembers } from '../../../runtime/objectSet/observe.ts';
import { agentsNamespaceOf } from '../../../connectivity/objects/names.ts';
import { componentsWithClaim, targetComponents } from '../components/components.ts';
import type { ComponentGroup } from '../components/component.ts';
import { prometheusSelector } from '../components/prometheus.ts';
import type { StackSource } from '../../contract/context.ts';
import { createStackOwnershipCache, type StackOwnershipCache } from '../../contract/stackOwnershipCache.ts';
import { PART_OF, selectorText } from '../../contract/labels.ts';
import { deployedByFlags, STACK_TYPES, type StackGroup } from '../model/stackGroups.ts';
import { AGENT_SERVICES } from '../model/discovery.ts';
import { AGENT_TARGETS, EXPORTER_NAME, exporterNamespace, NODE_TARGETS } from '../names.ts';
import type { MeasurementOptions } from '../options.ts';

/** The caches of the controller. */
export interface Caches {
  readonly informers: readonly Informer<KubeObject>[];
  /** True when every informer is synced or refused. */
  readonly initialized: boolean;
  /** The objects that may not be listed or watched, with the messages of the API server. */
  refusals(): Problem[];
  /** Groups with objects that cannot be watched. They must not be changed. */
  unknownGroups(): ReadonlySet<ComponentGroup | undefined>;
  /** Whether everything that the targets of the nodes depend on is known. */
  readonly knowsTargets: boolean;
  /** Whether everything that the targets of the agents depend on is known. */
  readonly knowsAgentTargets: boolean;
  readonly stacks: StackOwnershipCache<StackGroup>;
  /** The object in the cluster with the name of the component, whoever created it. */
  live(component: Member): KubeObject | undefined;
  /** The ConfigMaps of the targets of the nodes, by index. */
  liveTargets(): (V1ConfigMap | undefined)[];
  /** The ConfigMaps of the targets of the agents, by index. */
  liveAgentTargets(): (V1ConfigMap | undefined)[];
  /** The EndpointSlices of node-exporter. */
  slices(): readonly V1EndpointSlice[];
  /** EndpointSlices that may belong to the operator's Services. Empty if Prometheus does not scrape the operator. */
  operatorSlices(): readonly V1EndpointSlice[];
  /** The EndpointSlices of the connectivity check's agents. Empty if Prometheus does not scrape them. */
  agentSlices(): readonly V1EndpointSlice[];
  /** Prometheus' pods, only their metadata. */
  prometheusPods(): readonly V1Pod[];
  /** Calls a function on every event that concerns it, first for all present objects. */
  subscribe(onComponents: () => void, onTargets: () => void, onAgentTargets: () => void): void;
}

interface CachesOptions {
  transport: Transport;
  stacks: StackSource;
  options: MeasurementOptions;
  logger: Logger;
  metrics?: ReflectorMetrics;
  clock?: Clock;
}

/**
 * Creates an informer for each object by its name, for the EndpointSlices of node-exporter, of the operator and of the
 * agents, and for Prometheus' pods.
 */
export function createCaches({ options, stacks, ...given }: CachesOptions): Caches {
  let onRefusal = (): void => undefined;
  const shared = { ...given, onRefusal: () => onRefusal() };
  const members = componentsWithClaim(options);
  const components = watchMembers(members, shared);
  const ownership = createStackOwnershipCache(stacks, STACK_TYPES, members, deployedByFlags(options));
  const nodeMaps = targetComponents(options, NODE_TARGETS);
  const agentMaps = targetComponents(options, AGENT_TARGETS);
  const targets = watchMembers(nodeMaps, shared);
  const agentTargets = watchMembers(agentMaps, shared);
  const slices = createInformer({ ...shared, ...sliceSelection(options) });
  const scraped = options.prometheus.enabled && options.operatorMetrics;
  const own = scraped ? [createInformer({ ...shared, ...ownSliceSelection(options) })] : [];
  const hasAgents = options.prometheus.enabled && options.connectivity;
  const agents = hasAgents ? [createInformer({ ...shared, ...agentSliceSelection(options) })] : [];
  const pods = createInformer({ ...shared, ...podSelection(options) });
  // Nodes are measured also while the agents are not known.
  const deciding = [...targets.informers, slices, ...own];
  const decidingAgents = [...agentTargets.informers, ...agents];
  const informers = [...components.informers, ...deciding, ...decidingAgents, pods];
  // If the targets must be removed, they are components like the others.
  const parts = options.prometheus.enabled ? [components] : [components, targets, agentTargets];
  const all = [components, targets, agentTargets];

  return {
    informers,
    get initialized() {
      return ownership.isRead && informers.every(({ synced, refusal }) => synced || refusal !== undefined);
    },
    refusals: () => [
      ...all.flatMap((each) => each.refusals()),
      ...[slices, ...own, ...agents].flatMap((informer) => refusalOf('EndpointSlices', informer)),
      ...refusalOf("Prometheus' pods", pods),
      ...ownership.refusals(),
    ],
    unknownGroups: () => new Set(parts.flatMap((part) => [...part.unknownGroups()])),
    get knowsTargets() {
      return deciding.every(isKnown);
    },
    get knowsAgentTargets() {
      return decidingAgents.every(isKnown);
    },
    stacks: ownership,
    live: (component) => all.map((each) => each.live(component)).find((object) => object !== undefined),
    liveTargets: () => nodeMaps.map((component) => targets.live(component)),
    liveAgentTargets: () => agentMaps.map((component) => agentTargets.live(component)),
    slices: () => slices.lister.list(),
    operatorSlices: () => own.flatMap(({ lister }) => lister.list()),
    agentSlices: () => agents.flatMap(({ lister }) => lister.list()),
    prometheusPods: () => pods.lister.list(),
    subscribe(onComponents, onTargets, onAgentTargets) {
      for (const informer of components.informers) informer.subscribe(onComponents);
      ownership.subscribe(() => [onComponents, onTargets].forEach((enqueue) => enqueue()));
      for (const informer of [...deciding, pods]) informer.subscribe(onTargets);
      for (const informer of [...decidingAgents, pods]) informer.subscribe(onAgentTargets);
      onRefusal = () => [onComponents, onTargets, onAgentTargets].forEach((enqueue) => enqueue());
    },
  };
}

type Selection<T extends KubeObject> = Omit<InformerOptions<T>, keyof Omit<CachesOptions, 'options' | 'stacks'>>;

function sliceSelection({ namespace }: MeasurementOptions): Selection<V1EndpointSlice> {
  return {
    resource: ENDPOINT_SLICES,
    namespace: exporterNamespace(namespace),
    labelSelector: `${SERVICE_NAME_LABEL}=${EXPORTER_NAME}`,
    transform: withoutManagedFields,
  };
}

/** Selects the operator's EndpointSlices by the labels of their Service, which they inherit. */
function ownSliceSelection({ namespace }: MeasurementOptions): Selection<V1EndpointSlice> {
  return {
    resource: ENDPOINT_SLICES,
    namespace,
    labelSelector: `app.kubernetes.io/part-of=${PART_OF}`,
    transform: withoutManagedFields,
  };
}

/** Selects the EndpointSlices of the agents' Services. */
function agentSliceSelection({ namespace }: MeasurementOptions): Selection<V1EndpointSlice> {
  const services = AGENT_SERVICES.map(([, service]) => service);
  return {
    resource: ENDPOINT_SLICES,
    namespace: agentsNamespaceOf(namespace),
    labelSelector: `${SERVICE_NAME_LABEL} in (${services.join()})`,
    transform: withoutManagedFields,
  };
}

function podSelection({ namespace }: MeasurementOptions): Selection<V1Pod> {
  return {
    resource: PODS,
    namespace,
    labelSelector: selectorText(prometheusSelector(namespace)),
    metadataOnly: true,
    transform: withoutManagedFields,
  };
}
