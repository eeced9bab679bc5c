import type { V1ConfigMap, V1OwnerReference } from '@kubernetes/client-node';
import { CONFIG_MAPS } from '../../../runtime/client/resources.ts';
import { targetsName } from '../names.ts';
import type { MeasurementOptions } from '../options.ts';
import type { Component } from './component.ts';
import { prometheusMeta } from './prometheus.ts';

/**
 * The ConfigMap with part `index` of the targets, from 0.
 *
 * @param data what file_sd reads, by file; {} where only the name is of interest
 */
export function targetsComponent(
  options: MeasurementOptions,
  index: number,
  data: Readonly<Record<string, string>>,
  owner?: V1OwnerReference,
): Component<V1ConfigMap> {
  return {
    group: 'prometheus',
    resource: CONFIG_MAPS,
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: prometheusMeta(targetsName(index), options, owner),
      data: { ...data },
    },
  };
}
