import type { V1ConfigMap } from '@kubernetes/client-node';
import type { Caches } from './observe/caches.ts';
import { METRICS_PORT } from './components/exporter.ts';
import { agentTargetsOf } from './model/agentTargets.ts';
import { renderGroups, renderTargetFiles, targetsOf, type Target, type TargetFiles } from './model/discovery.ts';
import { operatorTargets, renderOperatorTargets } from './decide/operatorPods.ts';
import type { TargetsData } from './decide/targets.ts';
import { mergeTargets } from './model/usedTargets.ts';
import { AGENT_TARGETS, NODE_TARGETS, OPERATOR_FILE, TARGET_SHARDS, type TargetSet } from './names.ts';
import type { MeasurementOptions } from './options.ts';

/** The targets that a TargetsPass writes. */
export interface TargetSource {
  readonly set: TargetSet;
  /** The noun for targets that are not scraped if the ConfigMaps are full, such as 'nodes'. */
  readonly what: string;
  /** Returns the desired files; none if the ConfigMaps of the set should not exist. */
  desired(): TargetFiles;
  /** Other files of the first ConfigMap. */
  others(): TargetsData;
  /** The ConfigMaps in the cluster, by index. */
  live(): readonly (V1ConfigMap | undefined)[];
}

interface NodeSourceOptions {
  readonly options: Pick<MeasurementOptions, 'operatorMetrics'>;
  /** Name of the pod that this process runs in. */
  readonly podName?: string | undefined;
  readonly caches: Pick<Caches, 'liveTargets' | 'slices' | 'operatorSlices'>;
  /** Returns the targets of the existing exporter that a TrafficStack uses. */
  readonly used: () => readonly Target[];
}

/** The node-exporters. The operator's own pods are few and fit into the first ConfigMap. */
export function nodeTargets({ options, podName, caches, used }: NodeSourceOptions): TargetSource {
  return {
    set: NODE_TARGETS,
    what: 'nodes',
    desired: () => renderTargetFiles(mergeTargets(used(), targetsOf(caches.slices(), METRICS_PORT)), TARGET_SHARDS),
    others: (): TargetsData => {
      if (!options.operatorMetrics) return {};
      return { [OPERATOR_FILE]: renderOperatorTargets(operatorTargets(caches.operatorSlices(), podName)) };
    },
    live: () => caches.liveTargets(),
  };
}

/** The agents of the connectivity check. Without the check, their ConfigMaps are removed. */
export function agentTargets(
  options: Pick<MeasurementOptions, 'connectivity'>,
  caches: Pick<Caches, 'liveAgentTargets' | 'agentSlices'>,
): TargetSource {
  return {
    set: AGENT_TARGETS,
    what: 'nodes with agents',
    desired: () =>
      options.connectivity
        ? renderGroups(agentTargetsOf(caches.agentSlices()), TARGET_SHARDS)
        : { files: [], count: 0, omitted: [] },
    others: () => ({}),
    live: () => caches.liveAgentTargets(),
  };
}
