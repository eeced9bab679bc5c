import type { V1DaemonSet, V1Deployment } from '@kubernetes/client-node';
import { isDeepStrictEqual } from 'node:util';
import type { ComponentSpec, ComponentStatus, TrafficStack } from '../../../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL } from '../../../../src/controllers/trafficstack/names.ts';
import type { KubeObject } from '../../../../src/runtime/client/resource.ts';
import type { Change } from './history.ts';

/** A write, with what was there before. */
export interface Write {
  readonly key: string;
  readonly before: KubeObject | undefined;
  readonly object: KubeObject | undefined;
}

/** The content of the cluster after a write, and the knowledge of the time before. */
export class World {
  readonly now = new Map<string, KubeObject>();
  /** By the uid of the stack. */
  readonly #specs = new Map<string, TrafficStack['spec'][]>();
  /** By the uid of the stack, as it is now or was last. */
  readonly #stacks = new Map<string, TrafficStack>();
  /** The pod templates with which each workload was available, by its uid. */
  readonly #available = new Map<string, Set<string>>();
  /** The pod template with which a component was said to be Ready last, by the uid of the stack and its name. */
  readonly #ready = new Map<string, string>();

  take({ key, object }: Change): Write {
    const before = this.now.get(key);
    if (object === undefined) this.now.delete(key);
    else this.now.set(key, object);
    if (object !== undefined && isStack(key)) this.#takeStack(object as TrafficStack);
    else if (object !== undefined && isWorkload(key) && isAvailable(object)) {
      const templates = this.#available.get(uidOf(object)) ?? new Set();
      this.#available.set(uidOf(object), templates.add(templateOf(object)));
    }
    return { key, before, object };
  }

  /** All specs of a stack so far. */
  specsOf(owner: string): readonly TrafficStack['spec'][] {
    return this.#specs.get(owner) ?? [];
  }

  /** The stack that has an object. */
  stackOf(object: KubeObject | undefined): TrafficStack | undefined {
    return this.#stacks.get(ownerOf(object));
  }

  /** The live workload of a component. */
  workloadOf(component: string): KubeObject | undefined {
    return [...this.now].find(([key, live]) => isWorkload(key) && nameOf(live) === component)?.[1];
  }

  /** The last status of the component that has an object. */
  statusOf(object: KubeObject | undefined): ComponentStatus | undefined {
    return this.stackOf(object)?.status?.components?.find(({ name }) => name === nameOf(object));
  }

  /** Whether a workload was available with the pod template that it has. */
  wasAvailable(workload: KubeObject): boolean {
    return this.#available.get(uidOf(workload))?.has(templateOf(workload)) ?? false;
  }

  /** The pod template with which the component of a workload was said to be Ready last. */
  readyTemplateOf(workload: KubeObject): string | undefined {
    return this.#ready.get(`${ownerOf(workload)} ${nameOf(workload)}`);
  }

  #takeStack(stack: TrafficStack): void {
    const uid = uidOf(stack);
    this.#stacks.set(uid, stack);
    const known = this.#specs.get(uid) ?? [];
    if (!isDeepStrictEqual(known.at(-1), stack.spec)) this.#specs.set(uid, [...known, stack.spec]);
    for (const { name, state, version } of stack.status?.components ?? []) {
      const workload = this.workloadOf(name);
      // A status that another client has written over may be older than the workload.
      if (state !== 'Ready' || workload === undefined || imageOf(workload) !== version) continue;
      this.#ready.set(`${uid} ${name}`, templateOf(workload));
    }
  }
}

/** As for `kubectl rollout status`. */
export function isAvailable(live: KubeObject): boolean {
  const { metadata, spec, status } = live as V1Deployment;
  if ((status?.observedGeneration ?? 0) < (metadata?.generation ?? 0)) return false;
  const daemons = (live as V1DaemonSet).status;
  if (live.kind === 'DaemonSet') {
    const { desiredNumberScheduled, updatedNumberScheduled, numberAvailable } = daemons ?? {};
    return desiredNumberScheduled === updatedNumberScheduled && desiredNumberScheduled === numberAvailable;
  }
  const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
  return counts.every((count) => count === (spec?.replicas ?? 1));
}

export const isStack = (key: string): boolean => key.includes('/trafficstacks/');
export const isWorkload = (key: string): boolean => /^\/registry\/(deployments|statefulsets|daemonsets)\//.test(key);
export const uidOf = ({ metadata }: KubeObject): string => metadata?.uid ?? '';
export const ownerOf = (object: KubeObject | undefined): string => object?.metadata?.ownerReferences?.[0]?.uid ?? '';
export const nameOf = (object: KubeObject | undefined): string => object?.metadata?.labels?.[COMPONENT_LABEL] ?? '';
export const isEnding = (object: KubeObject | undefined): boolean => object?.metadata?.deletionTimestamp !== undefined;
/** Whether a write deletes an object, or begins to. */
export const isRemoval = ({ before, object }: Write): boolean =>
  before !== undefined && !isEnding(before) && (object === undefined || isEnding(object));

export function templateOf(workload: KubeObject | undefined): string {
  const { spec }: V1Deployment = { ...workload };
  return JSON.stringify(spec?.template);
}

export function imageOf(workload: KubeObject | undefined): string | undefined {
  const { spec }: V1Deployment = { ...workload };
  return spec?.template.spec?.containers[0]?.image;
}

/** The image that a spec wants. */
export function wantedImage(component: ComponentSpec | undefined): string | undefined {
  return component?.workload?.podTemplate?.spec?.containers[0]?.image;
}
