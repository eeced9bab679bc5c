import { bodyChanged } from '../../runtime/cache/bodyBudget.ts';
import { isDeepStrictEqual } from 'node:util';
import type { TrafficWeight, TrafficWeightSpec } from '../../api/trafficweight/trafficWeight.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import { createOverlay } from '../../runtime/cache/overlay.ts';
import type { InformerEvent } from '../../runtime/cache/store.ts';
import { keyOf, type KubeObject, sameSpec } from '../../runtime/client/resource.ts';
import { Controller } from '../../runtime/controller/controller.ts';
import {
  controllerPart,
  optionalCachePart,
  readyWithoutCrd,
  unneededCachePart,
} from '../../runtime/manager/manager.ts';
import { seriesBudgets } from '../../runtime/manager/seriesBudget.ts';
import type { Part } from '../../runtime/process/part.ts';
import type { ControllerContext } from '../contract/context.ts';
import type { RunningController } from '../contract/module.ts';
import { IngressEvents } from './events.ts';
import { createTrafficWeightMetrics } from './metrics.ts';
import { BackendFeed } from './observe/backendFeed.ts';
import { createBackend, rowIdOf, rowsOf, type BackendOptions, type BackendSources } from './observe/backends.ts';
import type { ReadySlice } from './observe/cachedObjects.ts';
import { BY_SERVICE, createCaches, type CacheOptions, type Caches, type GatewayCaches } from './observe/caches.ts';
import { Gates } from './observe/gates.ts';
import type { BackendView } from './observe/observation.ts';
import { ZoneFeed, zonesOf } from './observe/zoneFeed.ts';
import { reconcile, type Dependencies } from './reconcile.ts';
import { FIELD_MANAGER, type WeightObjects } from './weightObjects.ts';

/**
 * Changes within this time share a reconcile, milliseconds. external-dns writes the status of every DNSEndpoint, one after
 * the other, and each reconcile reads all Ingresses. DNS is slower anyway: clients keep a record for its TTL.
 */
const TOGETHER_MS = 1_000;
/** 10,000 new DNSEndpoints take 77 s if an API server takes 130 writes a second, as on two busy cores. */
const RECONCILE_TIMEOUT_MS = 300_000;

/** The parts of the process's context that the controller uses. */
type WeightContext = Pick<
  ControllerContext,
  'client' | 'transport' | 'events' | 'isLeader' | 'metrics' | 'clock' | 'logger'
>;

/** The options that differ between the processes that run this controller. */
export interface WeightOptions extends CacheOptions {
  readonly objects: WeightObjects;
  /** A URL instead of the DynamoDB endpoint of the region. */
  readonly dynamodbEndpointUrl: string | undefined;
  /** A URL instead of the Route 53 endpoint of the partition. */
  readonly route53EndpointUrl: string | undefined;
  readonly sources: BackendSources;
}

/** Runs the controller of TrafficWeights. */
export function runWeights(
  context: WeightContext,
  { objects, dynamodbEndpointUrl, route53EndpointUrl, sources, ...options }: WeightOptions,
): RunningController {
  const { client, events, isLeader, metrics, clock, logger } = context;
  const caches = createCaches(context, options);
  const endpoints = createOverlay(caches.endpoints, { clock, includeCreated: true });
  const backends = new BackendFeed<BackendOptions>({
    ...{ clock, logger, isLeader },
    rows: () => rowsOf(objects.lister.list(), dynamodbEndpointUrl),
    create: (backend) => createBackend(backend, sources),
    onChange: (name) => controller.queue.add(name),
  });
  const zones = new ZoneFeed({
    ...{ clock, logger, isLeader },
    zones: () => zonesOf(objects.lister.list()),
    // Import it only if it is used: most operators read no zone, and the AWS SDK takes 29 MiB.
    createReader: async () => new (await import('../../weights/route53/route53.ts')).Route53(route53EndpointUrl),
    onChange: (name) => controller.queue.add(name),
  });
  const idOf = (spec: TrafficWeightSpec): string => rowIdOf(spec, dynamodbEndpointUrl) ?? '';
  // A changed weight is written to thousands of DNSEndpoints.
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger, logLevel: 'debug', clock });
  const dependencies = {
    ...{ caches, endpoints, clock, isLeader },
    ...{ weights: objects.lister, statuses: objects.statuses, events: objects.events },
    backendOf: (spec: TrafficWeightSpec) => backends.view(idOf(spec)),
    zonesOf: ({ hostedZoneIDs = [] }: TrafficWeightSpec) => zones.views(hostedZoneIDs),
    setInForce: (
      { metadata, spec }: TrafficWeight,
      view: BackendView,
      state: Parameters<Dependencies['setInForce']>[2],
    ) => backends.setInForce(idOf(spec), metadata?.name ?? '', { view, ...state }),
    writers: { client, endpoints, logger, applier, clock },
    ingressEvents: new IngressEvents(events),
    gates: new Gates(sources.ask, clock),
    held: new Map(),
    rounds: new Map(),
    differing: new Map(),
    late: new Map(),
    removals: new Map(),
    metrics: createTrafficWeightMetrics(metrics.registry, seriesBudgets(context)),
  };
  const controller: Controller = new Controller({
    name: 'trafficweight',
    reconcile: (key, signal) => reconcile(dependencies, key, signal),
    reconcileTimeoutMs: RECONCILE_TIMEOUT_MS,
    ...{ logger, clock },
    metrics: metrics.controller,
  });
  const enqueueAll = (): void => {
    for (const weight of objects.lister.list()) controller.queue.addAfter(keyOf(weight), TOGETHER_MS);
  };
  objects.subscribe((event) => {
    if (!needsReconcile(event)) return;
    // Other TrafficWeights may have, or get, the Ingresses of this one.
    enqueueAll();
    controller.queue.add(keyOf(event.object));
  });
  caches.ingresses.subscribe(enqueueAll);
  caches.endpoints.subscribe(enqueueAll);
  caches.gatewayApi?.routes.subscribe(enqueueAll);
  caches.gatewayApi?.gateways.subscribe(enqueueAll);
  caches.gatewayApi?.listenerSets.subscribe(enqueueAll);
  caches.namespaces?.subscribe((event) => {
    if (hasNewLabels(event)) enqueueAll();
  });
  caches.slices.subscribe((event) => {
    const users = [caches.ingresses.lister, ...(caches.gatewayApi ? [caches.gatewayApi.routes.lister] : [])];
    const isUsed = (service: string): boolean => users.some((lister) => lister.byIndex(BY_SERVICE, service).length > 0);
    if (servicesWithNews(event).some(isUsed)) enqueueAll();
  });
  const reading: Part = { name: 'backends of TrafficWeights', stage: 'work', run: (stop) => backends.run(stop) };
  const readingZones: Part = { name: 'hosted zones of TrafficWeights', stage: 'work', run: (stop) => zones.run(stop) };
  const parts = [...objects.parts, ...partsOf(caches), controllerPart(controller), reading, readingZones];
  return { parts, enqueueAll };
}

/** Returns the caches as parts. Without the CRD of external-dns the rest works, and the status of each TrafficWeight names the missing CRD. */
export function partsOf({ ingresses, slices, namespaces, endpoints, gatewayApi }: Caches): Part[] {
  return [
    optionalCachePart(ingresses),
    optionalCachePart(slices),
    ...(namespaces === undefined ? [] : [optionalCachePart(namespaces)]),
    readyWithoutCrd(optionalCachePart(endpoints), endpoints),
    ...(gatewayApi === undefined ? [] : gatewayParts(gatewayApi)),
  ];
}

function gatewayParts({ routes, gateways, listenerSets }: GatewayCaches): Part[] {
  return [
    readyWithoutCrd(optionalCachePart(routes), routes),
    readyWithoutCrd(optionalCachePart(gateways), gateways),
    readyWithoutCrd(unneededCachePart(listenerSets), listenerSets),
  ];
}

/**
 * Whether a change of a TrafficWeight needs a reconcile. The operator's own status writes do not: after a failed write, each
 * of them would start the next attempt at once, without the backoff.
 */
export function needsReconcile(event: InformerEvent<KubeObject>): boolean {
  if (event.type !== 'update' || bodyChanged(event) || !sameSpec(event.old, event.object)) return true;
  return event.old?.metadata?.deletionTimestamp !== event.object.metadata?.deletionTimestamp;
}

/** Whether a change of a namespace may change which selectors match it. */
export function hasNewLabels(event: InformerEvent<KubeObject>): boolean {
  if (event.type !== 'update') return true;
  return !isDeepStrictEqual(event.old?.metadata?.labels ?? {}, event.object.metadata?.labels ?? {});
}

/** Returns the Services whose readiness a change of an EndpointSlice may change, as `namespace/name`. */
export function servicesWithNews(event: InformerEvent<ReadySlice>): string[] {
  const { object } = event;
  const old = event.type === 'update' ? event.old : undefined;
  if (old !== undefined && old.service === object.service && old.isReady === object.isReady) return [];
  return [...new Set([object.service, old?.service])].filter((service) => service !== undefined);
}
