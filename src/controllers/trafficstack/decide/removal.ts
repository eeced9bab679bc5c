import { ComponentReason as Reason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, InventoryEntry } from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { metaTime } from '../../../runtime/controller/conditions.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import { leftText } from '../model/allowed.ts';
import type { LeftObject, Observation, ObservedComponent, SeenEvent } from '../model/observation.ts';
import { exclusiveOf, isClaim } from './exclusive.ts';
import { isOfStack } from '../render/objects.ts';
import { withLostPod } from './podProblem.ts';

/** The decision about the objects that leave a stack. */
interface Removal {
  /** Objects to delete. Objects that are already being deleted are left out. */
  readonly remove: readonly LeftObject[];
  /** Statuses of components that left the spec and still exist. */
  readonly statuses: readonly ComponentStatus[];
  /** Inventory entries of components that left the spec and still exist. */
  readonly inventory: readonly InventoryEntry[];
  /** True if only objects are left that the operator may not delete. */
  readonly isRemoved: boolean;
}

/**
 * Decides which objects of the inventory are removed.
 *
 * | a component of the inventory                    | what happens                               |
 * |-------------------------------------------------|--------------------------------------------|
 * | is in the spec                                  | objects that left the spec are deleted when it is ready with the new ones |
 * | is not, and an existing component depends on it, or did until it is ready | nothing: it waits |
 * | is not, and nothing depends on it               | its objects are deleted                    |
 * | is not, and what depended on it waits for its removal, as after another name of the component | its objects are deleted |
 * | has neither objects nor pods                    | it leaves the inventory                    |
 * | has objects that the operator may not delete    | nothing holds, and waits for, these: Kubernetes deletes them when the stack is gone |
 */
export function planRemoval(observation: Observation, decided: Decided): Removal {
  const { stack, components, left, locked = [], withPods, now } = observation;
  const inSpec = new Set(components.map(({ spec }) => spec.name));
  const entries = stack.status?.inventory ?? [];
  const gone = entries.filter(({ component }) => !inSpec.has(component));
  const leftOf = Map.groupBy(left, ({ component }) => component);
  const there = gone.filter(({ component }) => withPods.has(component) || leftOf.has(component));
  const holders = new Holders({ stack, components, left }, there, decided);
  // Only of those that something is to be removed of, or that have a status.
  const leaving = new Set([...leftOf.keys(), ...there.map(({ component }) => component)]);
  const held = new Map([...leaving].map((component) => [component, holders.of(component)]));
  const free = left.filter(({ component }) => held.get(component)?.length === 0);
  const lockedOf = Map.groupBy(locked, ({ component }) => component);
  const kept = gone.filter(
    ({ component }) => lockedOf.has(component) && !there.some((each) => each.component === component),
  );
  return {
    remove: free.filter(({ live }) => !isBeingDeleted(live)),
    statuses: [...there, ...kept].map(({ component }) => {
      const [holder] = held.get(component) ?? [];
      const reason = holder !== undefined && inSpec.has(holder) ? HELD_BY_SPEC : HELD_BY_GONE;
      const objects = leftOf.get(component) ?? [];
      const status = statusOf(component, {
        ...{ stack, objects, withPods, now },
        wait: holder && `waits for ${holder}, ${reason}`,
      });
      return withLocked(status, lockedOf.get(component) ?? []);
    }),
    inventory: [...there, ...kept],
    isRemoved: there.length === 0,
  };
}

const HELD_BY_SPEC = 'which depended on it and is not ready yet';
const HELD_BY_GONE = 'which depends on it and is not gone yet';

/** @param locked what the operator may not delete of it */
function withLocked(status: ComponentStatus, locked: readonly LeftObject[]): ComponentStatus {
  if (locked.length === 0) return status;
  const message = leftText(locked.map(({ resource, live: object }) => ({ resource, object })));
  return { ...status, reason: Reason.NamespaceNotAllowed, message };
}

function isBeingDeleted({ metadata }: KubeObject): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

/** @param objects what is left of it @param wait what keeps its objects from being deleted */
function statusOf(
  component: string,
  {
    stack,
    objects,
    withPods,
    wait,
    now,
  }: Pick<Observation, 'stack' | 'withPods' | 'now'> & {
    readonly objects: readonly LeftObject[];
    readonly wait: string | undefined;
  },
): ComponentStatus {
  const prior = stack.status?.components?.find(({ name }) => name === component);
  const isUndeleted = objects.some(({ live }) => !isBeingDeleted(live));
  const names = objects.map(({ resource, live }) => idOf({ resource, object: live }));
  const ending = names.length === 0 ? 'its pods are ending' : `being deleted: ${names.join(', ')}`;
  const what = withLostPod(ending, withPods.get(component) ?? []);
  return {
    ...{ name: component, type: prior?.type ?? 'Workload', state: 'Removing', reason: Reason.NotInSpec },
    message: isUndeleted && wait !== undefined ? wait : what,
    since: prior?.state === 'Removing' ? prior.since : metaTime(now),
  };
}

/** The decisions about the components of the spec that a removal needs. */
interface Decided {
  /** Returns whether a component runs with its present objects, so that it no longer needs older ones. */
  readonly isUpToDate: (component: string) => boolean;
  readonly isReady: (component: string) => boolean;
  readonly hasFailed: (component: string) => boolean;
}

/** A step that waits: a component until it is ready, or the removal of its objects. */
interface Step {
  readonly kind: 'ready' | 'removal';
  readonly of: string;
}

/**
 * Finds the components that keep the objects of a component from being removed.
 *
 * | the component    | another component                                     | holds it |
 * |------------------|-------------------------------------------------------|----------|
 * | is not in the spec | is being removed, and depended on it                | yes, unless each of the two depended on the other |
 * | is not in the spec | is in the spec, depended on it, and is not ready since | yes, unless it waits for this very removal |
 * | is in the spec   | is itself, not ready with its present objects          | the same |
 *
 * A component waits for a removal if the component, or a direct or indirect dependency, has an object of the same name, or needs what only one
 * component can have (see exclusive.ts): without the removal neither would become ready.
 */
class Holders {
  readonly #components: ReadonlyMap<string, ObservedComponent>;
  /** Components that are being removed, by their former dependency. */
  readonly #goneUsers: ReadonlyMap<string, readonly string[]>;
  /** Components of the spec, by their former dependency. */
  readonly #users: ReadonlyMap<string, readonly string[]>;
  /** Components that are being removed, by what only one component can have. */
  readonly #owners: ReadonlyMap<string, readonly { readonly component: string }[]>;
  readonly #stack: Observation['stack'];
  readonly #decided: Decided;
  readonly #known = new Map<Step, readonly Step[]>();
  readonly #steps = { ready: new Map<string, Step>(), removal: new Map<string, Step>() };
  readonly #cycles = new Cycles<Step>((step) => this.#after(step));
  /** Cycles of removals only: a removal waits for a component to be ready unless that component waits for the removal. */
  readonly #removalCycles = new Cycles<Step>((step) => this.#after(step).filter(({ kind }) => kind === 'removal'));

  constructor(
    { stack, components, left }: Pick<Observation, 'stack' | 'components' | 'left'>,
    gone: readonly InventoryEntry[],
    decided: Decided,
  ) {
    const removed = new Set(gone.map(({ component }) => component));
    const owned = left.filter(({ component }) => removed.has(component));
    this.#owners = Map.groupBy(
      owned.flatMap(({ component, live }) => exclusiveOf(live).map((what) => ({ component, what }))),
      ({ what }) => what,
    );
    this.#components = new Map(components.map((component) => [component.spec.name, component]));
    const entries = (stack.status?.inventory ?? []).filter(({ component }) => this.#components.has(component));
    [this.#goneUsers, this.#users] = [usersOf(gone), usersOf(entries)];
    [this.#stack, this.#decided] = [stack, decided];
  }

  /** @param component one of the inventory */
  of(component: string): readonly string[] {
    const removal = this.#step('removal', component);
    // The removal comes after each of these steps, so a step in the same cycle also comes after it.
    const isHeldBy = (step: Step): boolean => {
      const cycles = step.kind === 'ready' ? this.#cycles : this.#removalCycles;
      return cycles.of(step) !== cycles.of(removal);
    };
    return this.#after(removal)
      .filter(isHeldBy)
      .map(({ of }) => of);
  }

  /** Returns the same object for the same step. */
  #step(kind: Step['kind'], of: string): Step {
    const steps = this.#steps[kind];
    const step = steps.get(of) ?? { kind, of };
    steps.set(of, step);
    return step;
  }

  /** Returns the steps before a step. */
  #after(step: Step): readonly Step[] {
    const { kind, of } = step;
    const found = this.#known.get(step) ?? (kind === 'removal' ? this.#beforeRemoval(of) : this.#beforeReady(of));
    this.#known.set(step, found);
    return found;
  }

  #beforeRemoval(component: string): Step[] {
    const isInSpec = this.#components.has(component);
    if (isInSpec) return this.#decided.isUpToDate(component) ? [] : [this.#step('ready', component)];
    // The inventory is from the last reconcile. Storing a new one causes no reconcile.
    const unready = (this.#users.get(component) ?? []).filter((of) => !this.#decided.isReady(of));
    return [
      ...(this.#goneUsers.get(component) ?? []).map((of) => this.#step('removal', of)),
      ...unready.map((of) => this.#step('ready', of)),
    ];
  }

  #beforeReady(name: string): Step[] {
    const component = this.#components.get(name);
    if (component === undefined || this.#decided.isReady(name)) return [];
    const held = component.objects.flatMap(({ live, heldBy }) =>
      live !== undefined && heldBy !== undefined && isOfStack(live, this.#stack) ? [heldBy] : [],
    );
    const owners = this.#blockedBy(component);
    return [
      ...(component.spec.dependsOn ?? []).map((of) => this.#step('ready', of)),
      ...[...new Set([...held, ...owners])].map((of) => this.#step('removal', of)),
    ];
  }

  /**
   * Returns the components that are being removed and have what a component needs for itself, if it does not start:
   *
   * | a component that is not ready                              | is blocked by who has its |
   * |------------------------------------------------------------|---------------------------|
   * | has missed its deadline                                    | ports, claims and records |
   * | has a pod that no node takes                               | ports, claims and records |
   * | has a pod whose volume is attached to another node         | claims: the old pods may have the volume |
   * | anything else: two nodes may have the port, and some claims serve several pods | nothing |
   */
  #blockedBy(component: ObservedComponent): readonly string[] {
    const { spec, objects, pods, events = [] } = component;
    const isRefused =
      this.#decided.hasFailed(spec.name) || pods.some(({ unscheduledMessage }) => unscheduledMessage !== undefined);
    if (!isRefused && !events.some(isMultiAttach)) return [];
    const needed = objects.flatMap(({ object }) => exclusiveOf(object)).filter((what) => isRefused || isClaim(what));
    return needed.flatMap((what) => this.#owners.get(what) ?? []).map((owner) => owner.component);
  }
}

/**
 * Whether an Event says that a ReadWriteOnce volume is attached to another node. The kubelet tries again until the deadline. A missing Secret, a
 * slow network or a slow image also keep a pod from starting, and have other Events: see cause.ts.
 * https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/controller/volume/attachdetach/reconciler/reconciler.go
 */
function isMultiAttach({ reason, message }: SeenEvent): boolean {
  return reason === 'FailedAttachVolume' && message.includes('Multi-Attach');
}

/** Groups components by their former dependency, in order. */
function usersOf(entries: readonly InventoryEntry[]): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  for (const { component, dependsOn } of entries) {
    for (const name of new Set(dependsOn)) {
      const found = users.get(name);
      if (found === undefined) users.set(name, [component]);
      else found.push(component);
    }
  }
  return users;
}

/** The state of a visited node. */
interface Visit {
  /** The number in the order of the visits. */
  readonly order: number;
  /** The earliest reachable node outside of complete cycles. */
  lowest: number;
  /** The number shared by all nodes of a cycle. Undefined while the cycle is incomplete. */
  cycle: number | undefined;
}

/**
 * Finds the cycles of a directed graph: its strongly connected components, with Tarjan's algorithm. It follows each edge once: a stack may have 200
 * components and 2,000 dependencies, and each event needs the result.
 */
export class Cycles<Node> {
  readonly #after: (node: Node) => readonly Node[];
  readonly #visits = new Map<Node, Visit>();
  /** Visited nodes of incomplete cycles. */
  readonly #open: Node[] = [];

  constructor(after: (node: Node) => readonly Node[]) {
    this.#after = after;
  }

  /** Returns the number of the cycle of a node. Two nodes have the same number if, and only if, each is reachable from the other. */
  of(node: Node): number | undefined {
    return (this.#visits.get(node) ?? this.#visit(node)).cycle;
  }

  #visit(node: Node): Visit {
    const order = this.#visits.size;
    const visit: Visit = { order, lowest: order, cycle: undefined };
    this.#visits.set(node, visit);
    const depth = this.#open.push(node) - 1;
    for (const next of this.#after(node)) {
      const seen = this.#visits.get(next);
      if (seen === undefined) visit.lowest = Math.min(visit.lowest, this.#visit(next).lowest);
      else if (seen.cycle === undefined) visit.lowest = Math.min(visit.lowest, seen.order);
    }
    if (visit.lowest === order) this.#complete(depth, order);
    return visit;
  }

  #complete(depth: number, cycle: number): void {
    for (const node of this.#open.splice(depth)) {
      const visit = this.#visits.get(node);
      if (visit !== undefined) visit.cycle = cycle;
    }
  }
}
