import type {
  ComponentSpec,
  TrafficStack,
  TrafficStackStatus,
  WorkloadComponent,
} from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { AllowedNamespaces } from '../model/allowed.ts';
import type { Answer, ObservedComponent, TimedFacts, StackPod, Verdict } from '../model/observation.ts';
import { renderStack, type RenderedComponent } from '../render/stack.ts';

/** 2026-01-01T00:00:00Z, ms since 1970. */
export const NOW = Date.UTC(2026, 0, 1);
/** The same as RFC 3339, some seconds later. */
export const at = (seconds: number): string => new Date(NOW + seconds * 1_000).toISOString().replace('.000Z', 'Z');

/** A component whose Deployment has two pods. */
export function component(name: string, over: Partial<WorkloadComponent> = {}): WorkloadComponent {
  const podTemplate = { spec: { containers: [{ name, image: `${name}:1` }] } };
  const workload = { kind: 'Deployment' as const, namespace: 'shop', replicas: 2, podTemplate };
  return { name, type: 'Workload', workload, ...over };
}

/** A stack of generation 2 that was reconciled. */
export function stackOf(components: readonly ComponentSpec[], status: TrafficStackStatus = {}): TrafficStack {
  return {
    metadata: { name: 'main', uid: 'stack-uid', generation: 2 },
    spec: { components: [...components] },
    status: { observedGeneration: 2, ...status },
  };
}

/** A Deployment as its controller has it, with so many available pods of two. */
export function live(object: KubeObject, available: number, over: object = {}): KubeObject {
  const status = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: available, ...over };
  return {
    ...object,
    metadata: { ...object.metadata, generation: 1, uid: `uid-${object.metadata?.name}` },
    status,
  } as KubeObject;
}

/** An operator that may write everywhere. */
export const EVERYWHERE: AllowedNamespaces = { own: 'op', namespaces: [], byName: new Set() };

/** The revision of all observed components. */
export const REVISION = 'r1';

/** A component with its objects, in a stack without more. */
export function rendered(spec: ComponentSpec, stack: TrafficStack = stackOf([])): RenderedComponent {
  const result = renderStack(stack, stack.spec, [spec], { countNodes: () => 3, builtIns: [] });
  const found = 'components' in result ? result.components[0] : undefined;
  if (found === undefined) throw new Error(JSON.stringify(result));
  return found;
}

/** How far the objects of a component are. */
export type There = 'none' | 'old' | { readonly available: number };

/** A component as it is observed. */
export function observed(
  spec: ComponentSpec,
  there: There,
  pods: readonly StackPod[] = [],
  stack: TrafficStack = stackOf([]),
): ObservedComponent {
  const { objects: desiredObjects, variables } = rendered(spec, stack);
  const objects = desiredObjects.map((desired) => ({
    ...desired,
    hash: desired.object.metadata?.name ?? '',
    live: there === 'none' ? undefined : live(desired.object, there === 'old' ? 2 : there.available),
    isCurrent: typeof there === 'object',
  }));
  return { spec, objects, pods, variables, revision: REVISION };
}

/** The answer to a query that was sent at this time of the monotonic clock. */
export const answered = (verdict: Verdict, sentAt = 0): Answer => ({ ...verdict, sentAt });

/** Returns the times of a component that has been available and Ready since this time of the monotonic clock. */
export function seenSince(time: number, ...names: readonly string[]): TimedFacts {
  const since = (as: string) => new Map(names.map((name) => [name, { as, at: time }]));
  return { available: since(''), stable: since(`Ready ${REVISION}`), awaiting: new Map() };
}

/** A pod whose container waits for this reason, or runs. */
export function pod(name: string, over: Partial<StackPod['containers'][number]> = {}): StackPod {
  const none = { waiting: undefined, ended: undefined, lastExit: undefined, lastReason: undefined, restarts: 0 };
  const container = { name: 'web', isReady: false, isRunning: false, ...none, ...over };
  return {
    ...{
      key: `shop/${name}`,
      component: 'shop/main/web',
      workload: 'Deployment web',
      isEnding: false,
      createdAt: NOW,
      revisionHash: '',
    },
    ...{ nodeName: 'n1', claims: [], containers: [container], unscheduledMessage: undefined },
  };
}
