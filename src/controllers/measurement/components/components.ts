import type { V1ConfigMap, V1OwnerReference } from '@kubernetes/client-node';
import { createObjectSet, type ObjectSet } from '../../../runtime/objectSet/objectSet.ts';
import { OWNER } from '../../contract/labels.ts';
import { AGENT_TARGETS, NODE_TARGETS, TARGET_SHARDS, type TargetSet } from '../names.ts';
import type { MeasurementOptions, PrometheusVolume } from '../options.ts';
import type { Component, ComponentGroup } from './component.ts';
import { exporterComponents } from './exporter.ts';
import { prometheusComponents } from './prometheus.ts';
import { targetsComponent } from './targets.ts';

/** All objects of node-exporter and Prometheus except the targets, whether enabled or not. */
export function allComponents(options: MeasurementOptions, owner?: V1OwnerReference): Component[] {
  return [...exporterComponents(options), ...prometheusComponents(options, owner)];
}

/** Returns all components and the claim that a TrafficStack may request. */
export function componentsWithClaim(options: MeasurementOptions): Component[] {
  const { volume } = options.prometheus;
  // Only its name matters.
  const claim: PrometheusVolume = volume?.kind === 'claim' ? volume : { kind: 'claim', size: '' };
  return allComponents({ ...options, prometheus: { ...options.prometheus, volume: claim } });
}

/** The ConfigMaps that may hold targets, without data: only their names matter. */
export function allTargetComponents(options: MeasurementOptions): Component[] {
  return [NODE_TARGETS, AGENT_TARGETS].flatMap((set) => targetComponents(options, set));
}

/** Returns the ConfigMaps of one set of targets, without data. */
export function targetComponents(options: MeasurementOptions, set: TargetSet): Component<V1ConfigMap>[] {
  return Array.from({ length: TARGET_SHARDS }, (_, index) => targetsComponent(options, index, {}, undefined, set));
}

/**
 * The object set of node-exporter and Prometheus. Contains the ConfigMaps of the targets only if they must be removed.
 *
 * @param owner as for `allComponents`
 */
export function measurementSet(options: MeasurementOptions, owner?: V1OwnerReference): ObjectSet<ComponentGroup> {
  const targets = options.prometheus.enabled ? [] : allTargetComponents(options);
  return createObjectSet(OWNER, [...allComponents(options, owner), ...targets]);
}
