import type { V1ConfigMap, V1EndpointSlice, V1Pod } from '@kubernetes/client-node';
import type { Clock } from '../../../runtime/process/clock.ts';
import { createInformer, withoutManagedFields } from '../../../runtime/cache/informer.ts';
import type { Informer, InformerOptions, ReflectorMetrics } from '../../../runtime/cache/informer.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { ENDPOINT_SLICES, PODS } from '../../../runtime/client/resources.ts';
import type { Transport } from '../../../runtime/client/transport.ts';
import type { Member } from '../../../runtime/objectSet/member.ts';
import type { Problem } from '../../../runtime/process/problem.ts';
import { isKnown, refusalOf, watchMembers } from '../../../runtime/objectSet/watch.ts';
import { allComponents, allTargetComponents } from '../components/components.ts';
import type { ComponentGroup } from '../components/component.ts';
import { prometheusSelector } from '../components/prometheus.ts';
import { PART_OF } from '../../contract/labels.ts';
import { EXPORTER_NAME, exporterNamespace, selectorText } from '../names.ts';
import type { MeasurementOptions } from '../options.ts';

/** The caches of the controller. */
export interface Caches {
  readonly informers: readonly Informer<KubeObject>[];
  /** True when every informer is synced or refused. */
  readonly settled: boolean;
  /** The objects that may not be listed or watched, with the messages of the API server. */
  refusals(): Problem[];
  /** Groups with objects that cannot be watched. They must not be changed. */
  unknownGroups(): ReadonlySet<ComponentGroup | undefined>;
  /** Whether everything that the targets depend on is known. */
  readonly knowsTargets: boolean;
  /** The object in the cluster with the name of the component, whoever created it. */
  live(component: Member): KubeObject | undefined;
  /** The ConfigMaps of the targets, by index. */
  liveTargets(): (V1ConfigMap | undefined)[];
  /** The EndpointSlices of node-exporter. */
  slices(): readonly V1EndpointSlice[];
  /** EndpointSlices that may belong to the operator's Services. Empty if Prometheus does not scrape the operator. */
  operatorSlices(): readonly V1EndpointSlice[];
  /** Prometheus' pods, only their metadata. */
  prometheusPods(): readonly V1Pod[];
  /** Calls a function on every event that concerns it, first for all present objects. */
  subscribe(onComponents: () => void, onTargets: () => void): void;
}

export interface CachesOptions {
  transport: Transport;
  options: MeasurementOptions;
  logger: Logger;
  metrics?: ReflectorMetrics;
  clock?: Clock;
}

/**
 * Creates an informer for each object by its name, for the EndpointSlices of node-exporter and of the operator, and for
 * Prometheus' pods.
 */
export function createCaches({ options, ...given }: CachesOptions): Caches {
  let onRefusal = (): void => undefined;
  const shared = { ...given, onRefusal: () => onRefusal() };
  const components = watchMembers(allComponents(options), shared);
  const targetComponents = allTargetComponents(options);
  const targets = watchMembers(targetComponents, shared);
  const slices = createInformer({ ...shared, ...sliceSelection(options) });
  const scraped = options.prometheus.enabled && options.operatorMetrics;
  const own = scraped ? [createInformer({ ...shared, ...ownSliceSelection(options) })] : [];
  const pods = createInformer({ ...shared, ...podSelection(options) });
  const deciding = [...targets.informers, slices, ...own];
  const followed = [...deciding, pods];
  const informers = [...components.informers, ...followed];
  // If the targets must be removed, they are components like the others.
  const parts = options.prometheus.enabled ? [components] : [components, targets];

  return {
    informers,
    get settled() {
      return informers.every(({ synced, refusal }) => synced || refusal !== undefined);
    },
    refusals: () => [
      ...components.refusals(),
      ...targets.refusals(),
      ...[slices, ...own].flatMap((informer) => refusalOf('EndpointSlices', informer)),
      ...refusalOf("Prometheus' pods", pods),
    ],
    unknownGroups: () => new Set(parts.flatMap((part) => [...part.unknownGroups()])),
    get knowsTargets() {
      return deciding.every(isKnown);
    },
    live: (component) => components.live(component) ?? targets.live(component),
    liveTargets: () => targetComponents.map((component) => targets.live(component)),
    slices: () => slices.lister.list(),
    operatorSlices: () => own.flatMap(({ lister }) => lister.list()),
    prometheusPods: () => pods.lister.list(),
    subscribe(onComponents, onTargets) {
      for (const informer of components.informers) informer.subscribe(onComponents);
      for (const informer of followed) informer.subscribe(onTargets);
      onRefusal = () => {
        onComponents();
        onTargets();
      };
    },
  };
}

type Selection<T extends KubeObject> = Omit<InformerOptions<T>, keyof Omit<CachesOptions, 'options'>>;

function sliceSelection({ namespace }: MeasurementOptions): Selection<V1EndpointSlice> {
  return {
    resource: ENDPOINT_SLICES,
    namespace: exporterNamespace(namespace),
    labelSelector: `kubernetes.io/service-name=${EXPORTER_NAME}`,
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

function podSelection({ namespace }: MeasurementOptions): Selection<V1Pod> {
  return {
    resource: PODS,
    namespace,
    labelSelector: selectorText(prometheusSelector(namespace)),
    metadataOnly: true,
    transform: withoutManagedFields,
  };
}
