import type { V1ConfigMap, V1EndpointSlice, V1Pod } from '@kubernetes/client-node';
import type { Clock } from '../../runtime/clock.ts';
import { createInformer } from '../../runtime/informer.ts';
import type { Informer, InformerOptions, ReflectorMetrics } from '../../runtime/informer.ts';
import type { Logger } from '../../runtime/logger.ts';
import { keyOf } from '../../runtime/resource.ts';
import type { KubeObject } from '../../runtime/resource.ts';
import { ENDPOINT_SLICES, PODS } from '../../runtime/resources.ts';
import type { Transport } from '../../runtime/transport.ts';
import { allComponents, allTargetComponents } from './components/components.ts';
import type { Component } from './components/component.ts';
import { prometheusSelector } from './components/prometheus.ts';
import { EXPORTER_NAME, exporterNamespace, PART_OF, selectorText } from './names.ts';
import type { MeasurementOptions } from './options.ts';

/** What the controller knows of the cluster. */
export interface Caches {
  readonly informers: readonly Informer<KubeObject>[];
  readonly synced: boolean;
  /** What the cluster has under a component's name, whoever made it. */
  live(component: Component): KubeObject | undefined;
  /** The ConfigMaps of the targets, by index. */
  liveTargets(): (V1ConfigMap | undefined)[];
  /** The exporter's. */
  slices(): readonly V1EndpointSlice[];
  /** Those that may be of the operator's own Services; none where Prometheus does not scrape the operator. */
  operatorSlices(): readonly V1EndpointSlice[];
  /** Prometheus' pods, metadata only. */
  prometheusPods(): readonly V1Pod[];
  /** Calls one of the two whenever there may be something to do, first for all that is there. */
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
 * An informer for each object by its name, so that RBAC can be by name too and an object that is not ours is seen as
 * well; one for the exporter's EndpointSlices, one for the operator's own, and one for Prometheus' pods.
 */
export function createCaches({ options, ...shared }: CachesOptions): Caches {
  const byName = (component: Component): [string, Informer<KubeObject>] => [
    idOf(component),
    createInformer({ ...shared, ...selectionOf(component), transform: withoutManagedFields }),
  ];
  const components = new Map(allComponents(options).map(byName));
  const targets = allTargetComponents(options).map((component) => ({ component, informer: byName(component)[1] }));
  const slices = createInformer({ ...shared, ...sliceSelection(options) });
  const scraped = options.prometheus.enabled && options.operatorMetrics;
  const own = scraped ? [createInformer({ ...shared, ...ownSliceSelection(options) })] : [];
  const pods = createInformer({ ...shared, ...podSelection(options) });
  const followed = [...targets.map(({ informer }) => informer), slices, ...own, pods];
  const informers = [...components.values(), ...followed];
  const targetsById = new Map(targets.map(({ component, informer }) => [idOf(component), informer]));
  const find = (component: Component): KubeObject | undefined =>
    (components.get(idOf(component)) ?? targetsById.get(idOf(component)))?.lister.get(keyOf(component.object));

  return {
    informers,
    get synced() {
      return informers.every(({ synced }) => synced);
    },
    live: find,
    liveTargets: () => targets.map(({ component }) => find(component)),
    slices: () => slices.lister.list(),
    operatorSlices: () => own.flatMap(({ lister }) => lister.list()),
    prometheusPods: () => pods.lister.list(),
    subscribe(onComponents, onTargets) {
      for (const informer of components.values()) informer.subscribe(onComponents);
      for (const informer of followed) informer.subscribe(onTargets);
    },
  };
}

type Selection<T extends KubeObject> = Omit<InformerOptions<T>, keyof Omit<CachesOptions, 'options'>>;

function selectionOf({ resource, object }: Component): Selection<KubeObject> {
  const { name = '', namespace } = object.metadata ?? {};
  const selection = { resource, fieldSelector: `metadata.name=${name}` };
  return namespace === undefined ? selection : { ...selection, namespace };
}

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

/** Half of a small object is the record of who set which field, which nobody reads here. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  delete object.metadata?.managedFields;
  return object;
}

function idOf({ resource, object }: Component): string {
  return `${resource.kind} ${keyOf(object)}`;
}
