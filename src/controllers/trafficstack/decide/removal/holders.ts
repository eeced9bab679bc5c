import type { InventoryEntry } from '../../../../api/trafficstack/trafficStack.ts';
import type { Observation, ObservedComponent } from '../../observe/observation.ts';
import { exclusiveOf } from './exclusive.ts';
import { isOfStack } from '../../render/objects.ts';
import { Cycles } from './cycles.ts';

/** What is decided about the components of the spec. */
export interface Decided {
  /** Whether a component runs with the objects that it should have, so that it needs no others any more. */
  readonly isSettled: (component: string) => boolean;
  readonly isReady: (component: string) => boolean;
}

/** Something that waits: a component of the spec until it is ready, or what is to be removed of one until that is done. */
interface Step {
  readonly kind: 'ready' | 'removal';
  readonly of: string;
}

/**
 * What keeps the objects of a component from being removed: names of components.
 *
 * | the component    | another one                                           | holds it |
 * |------------------|-------------------------------------------------------|----------|
 * | is not in the spec | is being removed, and depended on it                | yes, unless each of the two depended on the other |
 * | is not in the spec | is in the spec, depended on it, and is not ready since | yes, unless it waits for this very removal |
 * | is in the spec   | is itself, not ready with its present objects          | the same |
 *
 * A component waits for a removal if it, or one that it depends on, directly or by way of others, has an object of the same name, or needs what
 * only one component can have (see exclusive.ts): without the removal neither would ever be ready.
 */
export class Holders {
  readonly #components: ReadonlyMap<string, ObservedComponent>;
  /** Those that are being removed and are not gone, by what they depended on. */
  readonly #goneUsers: ReadonlyMap<string, readonly string[]>;
  /** Those of the spec, by what they depended on. */
  readonly #users: ReadonlyMap<string, readonly string[]>;
  /** Those that are being removed, by what only one component can have. */
  readonly #owners: ReadonlyMap<string, readonly { readonly component: string }[]>;
  readonly #stack: Observation['stack'];
  readonly #decided: Decided;
  readonly #known = new Map<Step, readonly Step[]>();
  readonly #steps = { ready: new Map<string, Step>(), removal: new Map<string, Step>() };
  readonly #cycles = new Cycles<Step>((step) => this.#after(step));
  /** What is being removed waits for nothing else to be ready, once those that wait for it are left out. */
  readonly #removalCycles = new Cycles<Step>((step) => this.#after(step).filter(({ kind }) => kind === 'removal'));

  constructor(
    { stack, components, left }: Pick<Observation, 'stack' | 'components' | 'left'>,
    gone: readonly InventoryEntry[],
    decided: Decided,
  ) {
    const removed = new Set(gone.map(({ component }) => component));
    const owners = left.flatMap(({ component, live }) => exclusiveOf(live).map((what) => ({ component, what })));
    this.#owners = Map.groupBy(
      owners.filter(({ component }) => removed.has(component)),
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
    // It comes after each of these. So one of them comes after it, too, if both are in one cycle.
    const isHeldBy = (step: Step): boolean => {
      const cycles = step.kind === 'ready' ? this.#cycles : this.#removalCycles;
      return cycles.of(step) !== cycles.of(removal);
    };
    return this.#after(removal)
      .filter(isHeldBy)
      .map(({ of }) => of);
  }

  /** The same object for the same step. */
  #step(kind: Step['kind'], of: string): Step {
    const steps = this.#steps[kind];
    const step = steps.get(of) ?? { kind, of };
    steps.set(of, step);
    return step;
  }

  /** What comes before a step. */
  #after(step: Step): readonly Step[] {
    const { kind, of } = step;
    const found = this.#known.get(step) ?? (kind === 'removal' ? this.#beforeRemoval(of) : this.#beforeReady(of));
    this.#known.set(step, found);
    return found;
  }

  #beforeRemoval(component: string): Step[] {
    const isInSpec = this.#components.has(component);
    if (isInSpec) return this.#decided.isSettled(component) ? [] : [this.#step('ready', component)];
    // The inventory is that of the reconcile before. That of this one is stored without another reconcile.
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
    const needed = component.objects.flatMap(({ object }) => exclusiveOf(object));
    const owners = needed.flatMap((what) => this.#owners.get(what) ?? []).map((owner) => owner.component);
    return [
      ...(component.spec.dependsOn ?? []).map((of) => this.#step('ready', of)),
      ...[...new Set([...held, ...owners])].map((of) => this.#step('removal', of)),
    ];
  }
}

/** By each component, those that depended on it, in their order. */
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
