import type { TrafficStack } from '../../../../src/api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../../src/runtime/client/resource.ts';
import {
  imageOf,
  isEnding,
  isRemoval,
  isStack,
  nameOf,
  ownerOf,
  templateOf,
  uidOf,
  type World,
  type Write,
} from './world.ts';

/** Annotation of a stack, written before its `upgrade.query` becomes true. Until then its gate is closed. */
export const GATE_OPENED = 'example.com/gate-opened';

/** Whether a stack has a gate that was not opened so far. */
export function isGated({ metadata, spec }: TrafficStack): boolean {
  return spec.upgrade?.query !== undefined && metadata?.annotations?.[GATE_OPENED] === undefined;
}

/** The faults of a write in spite of a closed gate: nothing of a component that exists may be changed, added or removed. */
export function againstGate(write: Write, world: World): string[] {
  const { key, before, object } = write;
  const stack = world.stackOf(object ?? before);
  if (stack === undefined || isStack(key) || isEnding(stack) || !isGated(stack)) return [];
  const verb = verbOf(write, world);
  return verb === undefined ? [] : [`${key} was ${verb} while the gate was closed`];
}

function verbOf(write: Write, world: World): string | undefined {
  const { key, before, object } = write;
  if (object === undefined || isRemoval(write)) return isRemoval(write) ? 'removed' : undefined;
  if (before !== undefined) return contentOf(before) === contentOf(object) ? undefined : 'changed';
  const workload = world.workloadOf(nameOf(object));
  // A new component has its workload last. What is stored for a rollback is no change.
  const isNew = workload === undefined || workload === object || key.includes('/controllerrevisions/');
  return isNew ? undefined : 'added';
}

/** The part of an object that the operator decides. */
function contentOf(object: KubeObject): string {
  const { spec, data } = object as { spec?: unknown; data?: unknown };
  return JSON.stringify([object.metadata?.labels, spec, data]);
}

/** Whether a workload gets back what it had before its present, failed image, as its status said beforehand. */
export function isRestored({ before, object }: Write, world: World): boolean {
  const failed = world.statusOf(object)?.rolledBackFrom?.version;
  return before !== undefined && imageOf(before) === failed && imageOf(object) !== failed;
}

/** The fault of a workload that was restored: it must be exactly as it was when its component was said to be Ready last. */
export function wronglyRestored(object: KubeObject, world: World): string | undefined {
  const what = `${nameOf(object)} was restored to ${imageOf(object) ?? ''}`;
  if (world.readyTemplateOf(object) !== templateOf(object)) return `${what}, which is not its last ready revision`;
  return world.wasAvailable(object) ? undefined : `${what}, which was never available`;
}

/** Components that a status calls Ready with a version that was not available by then. */
export function untruths(stack: TrafficStack, world: World): string[] {
  return (stack.status?.components ?? []).flatMap(({ name, state, version }) => {
    const workload = world.workloadOf(name);
    const isOfStack = workload !== undefined && ownerOf(workload) === uidOf(stack);
    if (state !== 'Ready' || !isOfStack || imageOf(workload) !== version || world.wasAvailable(workload)) return [];
    return [`${name} was said to be Ready with ${version ?? ''} before that was available`];
  });
}
