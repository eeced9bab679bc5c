import type { V1OwnerReference } from '@kubernetes/client-node';
import { TARGET_SHARDS } from '../names.ts';
import type { MeasurementOptions } from '../options.ts';
import type { Component } from './component.ts';
import { exporterComponents } from './exporter.ts';
import { prometheusComponents } from './prometheus.ts';
import { targetsComponent } from './targets.ts';

/**
 * What the operator measures with, switched on or not, in the order in which it must come to be: a namespace before
 * what is in it, configuration before what reads it.
 */
export function allComponents(options: MeasurementOptions, owner?: V1OwnerReference): Component[] {
  return [...exporterComponents(options), ...prometheusComponents(options, owner)];
}

/** The ConfigMaps that targets may be in. Their contents are left empty: this is to know them by name. */
export function allTargetComponents(options: MeasurementOptions): Component[] {
  return Array.from({ length: TARGET_SHARDS }, (_, index) => targetsComponent(options, index, {}));
}
