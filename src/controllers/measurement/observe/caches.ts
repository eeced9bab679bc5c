import type { V1ConfigMap, V1EndpointSlice, V1Pod } from '@kubernetes/client-node';
import type { Clock } from '../../../runtime/process/clock.ts';
import { createInformer, withoutManagedFields } from '../../../runtime/cache/informer.ts';
import type { Informer, InformerOptions, ReflectorMetrics } from '../../../runtime/cache/informer.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { ENDPOINT_SLICES, PODS } from '../../../runtime/client/resources.ts';
import type { Transport } from '../../../runtime/client/transport.ts';
import { allComponents, allTargetComponents } from '../components/components.ts';
import { describeComponent } from '../components/component.ts';
import type { Component, ComponentGroup } from '../components/component.ts';
import { prometheusSelector } from '../components/prometheus.ts';
import type { Problem } from '../decide/plan.ts';
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
  unknownGroups(): ReadonlySet<ComponentGroup>;
  /** Whether all is known that the targets depend on. */
  readonly knowsTargets: boolean;
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
 * An informer for each object by its name, so that RBAC can be by name too and an object that is not ours is seen as
 * well; one for the exporter's EndpointSlices, one for the operator's own, and one for Prometheus' pods.
 */
export function createCaches({ options, ...given }: CachesOptions): Caches {
  let onRefusal = (): void => undefined;
  const shared = { ...given, onRefusal: () => onRefusal() };
  const byName = (component: Component): Named => ({
    component,
    informer: createInformer({ ...shared, ...selectionOf(component), transform: withoutManagedFields }),
  });
  const components = allComponents(options).map(byName);
  const targets = allTargetComponents(options).map(byName);
  const slices = createInformer({ ...shared, ...sliceSelection(options) });
  const scraped = options.prometheus.enabled && options.operatorMetrics;
  const own = scraped ? [createInformer({ ...shared, ...ownSliceSelection(options) })] : [];
  const pods = createInformer({ ...shared, ...podSelection(options) });
  const deciding = [...targets.map(({ informer }) => informer), slices, ...own];
  const followed = [...deciding, pods];
  const informers = [...components.map(({ informer }) => informer), ...followed];
  const byId = new Map([...components, ...targets].map(({ component, informer }) => [idOf(component), informer]));
  const find = (component: Component): KubeObject | undefined =>
    byId.get(idOf(component))?.lister.get(keyOf(component.object));
  // Where the targets have to go, they are components like the others.
  const parts = options.prometheus.enabled ? components : [...components, ...targets];
  const others = [slices, ...own].map((informer) => ({ object: 'EndpointSlices', informer }));
  const watched = [
    ...[...components, ...targets].map(({ component, informer }) => ({
      object: describeComponent(component),
      informer,
    })),
    ...others,
    { object: "Prometheus' pods", informer: pods },
  ];

  return {
    informers,
    get settled() {
      return informers.every(({ synced, refusal }) => synced || refusal !== undefined);
    },
    refusals: () => watched.flatMap(({ object, informer }) => refusalProblem(object, informer)),
    unknownGroups: () =>
      new Set(parts.filter(({ informer }) => !isKnown(informer)).map(({ component }) => component.group)),
    get knowsTargets() {
      return deciding.every(isKnown);
    },
    live: find,
    liveTargets: () => targets.map(({ component }) => find(component)),
    slices: () => slices.lister.list(),
    operatorSlices: () => own.flatMap(({ lister }) => lister.list()),
    prometheusPods: () => pods.lister.list(),
    subscribe(onComponents, onTargets) {
      for (const { informer } of components) informer.subscribe(onComponents);
      for (const informer of followed) informer.subscribe(onTargets);
      onRefusal = () => {
        onComponents();
        onTargets();
      };
    },
  };
}

/** A component and the cache of its name. */
interface Named {
  component: Component;
  informer: Informer<KubeObject>;
}

/** What was once known and may have changed since is not known. */
function isKnown({ synced, refusal }: Pick<Informer<KubeObject>, 'synced' | 'refusal'>): boolean {
  return synced && refusal === undefined;
}

function refusalProblem(object: string, { refusal }: Pick<Informer<KubeObject>, 'refusal'>): Problem[] {
  if (refusal === undefined) return [];
  const message = `${refusal.detail}; what depends on it stays as it is until that is allowed`;
  return [{ reason: 'Forbidden', object, message }];
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

function idOf({ resource, object }: Component): string {
  return `${resource.kind} ${keyOf(object)}`;
}
