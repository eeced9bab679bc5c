import type { V1ConfigMap, V1OwnerReference } from '@kubernetes/client-node';
import { createObjectSet, type ObjectSet } from '../../../runtime/objectSet/objectSet.ts';
import { OWNER } from '../../contract/labels.ts';
import { AGENT_TARGETS, NODE_TARGETS, TARGET_SHARDS, type TargetSet, targetsName } from '../names.ts';
import type { MeasurementOptions, PrometheusVolume } from '../options.ts';
import type { Component, ComponentGroup } from './component.ts';
import { prometheusComponents, prometheusMeta } from './prometheus.ts';
import { CONFIG_MAPS } from '../../../runtime/client/resources.ts';
import { exporterComponents } from './exporter.ts';

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

/**
 * The ConfigMap for part `index` of the targets, from 0.
 *
 * @param data file name -> content for file_sd; {} if only the name matters
 */
export function targetsComponent(
  options: MeasurementOptions,
  index: number,
  data: Readonly<Record<string, string>>,
  owner?: V1OwnerReference,
  set: TargetSet = NODE_TARGETS,
): Component<V1ConfigMap> {
  return {
    group: 'prometheus',
    resource: CONFIG_MAPS,
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: prometheusMeta(targetsName(index, set), options, owner),
      data: { ...data },
    },
  };
}
