import { createHash } from 'node:crypto';
import type { V1ConfigMap, V1OwnerReference, V1Pod } from '@kubernetes/client-node';
import type { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import { isNotFound } from '../../runtime/client/errors.ts';
import { keyOf, refOfKey } from '../../runtime/client/resource.ts';
import { PODS } from '../../runtime/client/resources.ts';
import { remove } from '../../runtime/objectSet/act.ts';
import { foreignProblem } from '../../runtime/objectSet/plan.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import type { Component } from './components/component.ts';
import { targetsComponent } from './components/components.ts';
import {
  type TargetFiles,
  agentTargetsOf,
  renderGroups,
  renderTargetFiles,
  targetsOf,
  type Target,
  mergeTargets,
} from './model/discovery.ts';
import { planTargets, type TargetsData, type TargetsPlan, type TargetsWrite } from './decide/targets.ts';
import {
  FIELD_MANAGER,
  TARGET_SHARDS,
  targetsFile,
  AGENT_TARGETS,
  NODE_TARGETS,
  OPERATOR_FILE,
  type TargetSet,
} from './names.ts';
import type { MeasurementOptions } from './options.ts';
import type { Caches } from './observe/caches.ts';
import { METRICS_PORT } from './components/exporter.ts';
import { operatorTargets, renderOperatorTargets } from './decide/operatorPods.ts';

interface TargetsPassOptions {
  options: MeasurementOptions;
  source: TargetSource;
  /** Prometheus' pods, only their metadata. */
  prometheusPods: () => readonly V1Pod[];
  client: Client;
  applier: Applier;
  clock: Clock;
  /** Called once in each run, with the number of nodes and the problems. */
  onPass: (count: number, problems: readonly Problem[]) => void;
}

/** Writes one set of Prometheus' target files from EndpointSlices. */
export class TargetsPass {
  readonly #o: TargetsPassOptions;
  #lastWrite: TargetsWrite | undefined;

  constructor(options: TargetsPassOptions) {
    this.#o = options;
  }

  /**
   * Writes the targets, and then annotates Prometheus' pods.
   * @returns when to run again, if a write has to wait; undefined otherwise
   * @throws ApiError, TransportError, NotLeaderError
   */
  async run(owner: V1OwnerReference | undefined): Promise<ReconcileResult | undefined> {
    const { source, clock, onPass } = this.#o;
    const desired = source.desired();
    const live = source.live();
    const now = clock.monotonic();
    const data = this.#dataOf(desired);
    const plan = planTargets({ data, live, lastWrite: this.#lastWrite, now });
    onPass(desired.count, this.#problemsOf(plan, desired));
    if (plan.waitMs > 0) return { requeueAfterMs: plan.waitMs };
    const written = await this.#write(plan, data, live, owner);
    // A write without targets must not delay the first node.
    if (written && desired.count > 0) this.#lastWrite = { data, at: clock.monotonic() };
    if (data.length > 0) await this.#annotatePods(hashOf(data));
    return undefined;
  }

  /** The desired data of each ConfigMap. */
  #dataOf({ files }: TargetFiles): TargetsData[] {
    const { source } = this.#o;
    return files.map((file, index) => ({
      [targetsFile(index, source.set)]: file,
      ...(index === 0 ? source.others() : {}),
    }));
  }

  /** @returns whether anything had to be written */
  async #write(
    plan: TargetsPlan,
    data: readonly TargetsData[],
    live: readonly (V1ConfigMap | undefined)[],
    owner: V1OwnerReference | undefined,
  ): Promise<boolean> {
    const { client, applier } = this.#o;
    let any = false;
    for (const index of plan.apply) {
      const component = this.#component(index, data[index], owner);
      const { written } = await applier.apply(component.resource, component.object, live[index]);
      any ||= written;
    }
    for (const index of plan.remove) {
      await remove(client, { member: this.#component(index), live: live[index] });
    }
    return any;
  }

  #component(index: number, data: TargetsData = {}, owner?: V1OwnerReference): Component<V1ConfigMap> {
    return targetsComponent(this.#o.options, index, data, owner, this.#o.source.set);
  }

  /**
   * Annotates Prometheus' pods right after their volume changed. A kubelet syncs the volumes of a pod when the pod
   * changes, and otherwise only about once a minute.
   */
  async #annotatePods(hash: string): Promise<void> {
    for (const pod of this.#o.prometheusPods()) {
      const { annotations, deletionTimestamp } = pod.metadata ?? {};
      if (deletionTimestamp !== undefined || annotations?.[this.#o.source.set.annotation] === hash) continue;
      await this.#annotate(pod, hash);
    }
  }

  async #annotate(pod: V1Pod, hash: string): Promise<void> {
    const patch = { metadata: { annotations: { [this.#o.source.set.annotation]: hash } } };
    try {
      await this.#o.client.mergePatch(PODS, refOfKey(keyOf(pod)), patch, { fieldManager: FIELD_MANAGER });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #problemsOf(plan: TargetsPlan, { omitted }: TargetFiles): Problem[] {
    const foreign = plan.foreign.map((index) => foreignProblem(this.#component(index)));
    return omitted.length === 0 ? foreign : [...foreign, omittedProblem(omitted, this.#o.source.what)];
  }
}

function omittedProblem(omitted: readonly string[], what: string): Problem {
  const examples = omitted.slice(0, 3).join(', ');
  const message = `${omitted.length} ${what} are not scraped: ${TARGET_SHARDS} ConfigMaps of targets are full (${examples}, ...)`;
  return { reason: 'TargetsOmitted', object: 'ConfigMaps of targets', message };
}

function hashOf(data: readonly TargetsData[]): string {
  return createHash('sha256').update(JSON.stringify(data)).digest('hex').slice(0, 16);
}

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
