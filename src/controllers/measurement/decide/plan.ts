import type { KubeObject } from '../../../runtime/client/resource.ts';
import { describeComponent } from '../components/component.ts';
import type { Component, ComponentGroup } from '../components/component.ts';
import { isOurs } from '../names.ts';

/** A component, and what the cluster has under its name. */
export interface ObservedComponent {
  readonly component: Component;
  readonly live: KubeObject | undefined;
}

/** Everything that a decision about the components may look at. */
export interface Observation {
  /** In the order in which they must come to be. */
  readonly components: readonly ObservedComponent[];
  readonly enabled: Readonly<Record<ComponentGroup, boolean>>;
  /** Parts of which not everything is known, for lack of a right to watch it. */
  readonly unknown: ReadonlySet<ComponentGroup>;
  /** Names of pods in the exporter's namespace that are not ours; read only where that namespace may have to go. */
  readonly strangers: readonly string[];
}

/** Something that keeps the cluster from being as it should be, for logs, events and conditions. */
export interface Problem {
  /** CamelCase. */
  readonly reason: string;
  /** Kind and name of what it is about. */
  readonly object: string;
  readonly message: string;
}

/** What is to be done about the components. */
export interface Plan {
  /** In this order. Most are as they should be: whoever applies them compares first. */
  readonly apply: readonly ObservedComponent[];
  /** In this order: what is in a namespace before the namespace. */
  readonly remove: readonly ObservedComponent[];
  readonly problems: readonly Problem[];
  /** Something is on its way out and cannot be there again before it is gone. */
  readonly waiting: boolean;
}

/**
 * Decides about every component by itself:
 *
 * | part | in the cluster         | plan                                 |
 * |------|------------------------|--------------------------------------|
 * | on   | nothing, or ours       | apply                                |
 * | on   | ours, being deleted    | wait, with all that is in it         |
 * | on   | somebody else's        | leave alone and name it              |
 * | off  | ours                   | remove                               |
 * | off  | ours, being deleted    | nothing                              |
 * | off  | nothing, or not ours   | nothing                              |
 * | any  | not known, or something else of its part is not | nothing     |
 *
 * A namespace is not removed while it holds a pod, or one of our names, that is somebody else's: all would go with it.
 * In a namespace that is not ours ours are still made, so that an administrator may have made it beforehand.
 */
export function planComponents(observation: Observation): Plan {
  const known = observation.components.filter(({ component }) => !observation.unknown.has(component.group));
  const on = known.filter(({ component }) => observation.enabled[component.group]);
  const off = known.filter(({ component }) => !observation.enabled[component.group]);
  const foreign = on.filter(isForeign);
  const leaving = on.filter((each) => isOwned(each) && isLeaving(each));
  const keptNamespaces = off.filter((each) => isRemovable(each) && keepsStrangers(each, off, observation.strangers));
  return {
    apply: on.filter((each) => !foreign.includes(each) && !leaving.some((other) => isOrIsIn(each, other))),
    remove: off.filter((each) => isRemovable(each) && !keptNamespaces.includes(each)).reverse(),
    problems: [...foreign.map(foreignProblem), ...keptNamespaces.map(keptProblem)],
    waiting: leaving.length > 0,
  };
}

/** Says of an object that it is in the way of ours. */
export function foreignProblem({ component }: ObservedComponent): Problem {
  const object = describeComponent(component);
  const message = `${object} exists and was not made by this operator: it is left as it is, and ours is missing`;
  return { reason: 'ForeignObject', object, message };
}

/** True for an object that somebody else made. */
export function isForeign({ live }: ObservedComponent): boolean {
  return live !== undefined && !isOurs(live);
}

function isOwned({ live }: ObservedComponent): boolean {
  return live !== undefined && isOurs(live);
}

function isLeaving({ live }: ObservedComponent): boolean {
  return live?.metadata?.deletionTimestamp !== undefined;
}

function isRemovable(each: ObservedComponent): boolean {
  return isOwned(each) && !isLeaving(each);
}

function isNamespace({ component }: ObservedComponent): boolean {
  return component.resource.kind === 'Namespace';
}

function isIn({ component }: ObservedComponent, namespace: ObservedComponent): boolean {
  return isNamespace(namespace) && component.object.metadata?.namespace === namespace.component.object.metadata?.name;
}

function isOrIsIn(each: ObservedComponent, other: ObservedComponent): boolean {
  return each === other || isIn(each, other);
}

function keepsStrangers(
  each: ObservedComponent,
  all: readonly ObservedComponent[],
  strangers: readonly string[],
): boolean {
  return isNamespace(each) && (strangers.length > 0 || all.some((other) => isIn(other, each) && isForeign(other)));
}

function keptProblem({ component }: ObservedComponent): Problem {
  const object = describeComponent(component);
  const message = `${object} is no longer needed, but is kept: something in it was not made by this operator`;
  return { reason: 'NamespaceKept', object, message };
}
