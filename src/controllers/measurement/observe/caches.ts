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
import { EXPORTER_NAME, exporterNamespace, PART_OF, selectorText } from '../names.ts';
import type { MeasurementOptions } from '../options.ts';

/** What the controller knows of the cluster. */
export interface Caches {
  readonly informers: readonly Informer<KubeObject>[];
  /** False while one of them is neither filled nor refused. */
  readonly settled: boolean;
  /** What the API server does not let us watch, in its own words. */
  refusals(): Problem[];
  /** Parts of which not everything is known that would be looked at to change them. */
  unknownGroups(): ReadonlySet<ComponentGroup | undefined>;
  /** Whether all is known that the targets depend on. */
  readonly knowsTargets: boolean;
  /** What the cluster has under a component's name, whoever made it. */
  live(component: Member): KubeObject | undefined;
  /** The ConfigMaps of the targets, by index. */
  liveTargets(): (V1ConfigMap | undefined)[];
  /** The exporter's. */
  slices(): readonly V1EndpointSlice[];
  /** Those that may be of the operator's own Services; none where Prometheus does not scrape the operator. */
  operatorSlices(): readonly V1EndpointSlice[];
  /** Prometheus' pods, metadata only. */
  prometheusPods(): readonly V1Pod[];
  /** Calls one of the two, or both, whenever there may be something to do, first for all that is there. */
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
 * An informer for each object by its name; one for the exporter's EndpointSlices, one for the operator's own, and one
 * for Prometheus' pods.
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
  // Where the targets have to go, they are components like the others.
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

/** EndpointSlices have the labels of their Service. */
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
