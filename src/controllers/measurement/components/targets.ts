import type { V1ConfigMap, V1OwnerReference } from '@kubernetes/client-node';
import { CONFIG_MAPS } from '../../../runtime/client/resources.ts';
import { NODE_TARGETS, targetsName, type TargetSet } from '../names.ts';
import type { MeasurementOptions } from '../options.ts';
import type { Component } from './component.ts';
import { prometheusMeta } from './prometheus.ts';

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
