import type { InventoryEntry } from '../../../../api/trafficstack/trafficStack.ts';
import type { Observation, ObservedComponent } from '../../observe/observation.ts';
import { isOfStack } from '../../render/objects.ts';

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
 * A component waits for a removal if one that it depends on, directly or by way of others, has an object of the same name: without the
 * removal neither would ever be ready.
 */
export class Holders {
  readonly #components: ReadonlyMap<string, ObservedComponent>;
  /** Those that are being removed and are not gone. */
  readonly #gone: readonly InventoryEntry[];
  readonly #entries: readonly InventoryEntry[];
  readonly #stack: Observation['stack'];
  readonly #decided: Decided;

  constructor(
    { stack, components }: Pick<Observation, 'stack' | 'components'>,
    gone: readonly InventoryEntry[],
    decided: Decided,
  ) {
    this.#components = new Map(components.map((component) => [component.spec.name, component]));
    this.#entries = (stack.status?.inventory ?? []).filter(({ component }) => this.#components.has(component));
    [this.#gone, this.#stack, this.#decided] = [gone, stack, decided];
  }

  /** @param component one of the inventory */
  of(component: string): readonly string[] {
    const removal: Step = { kind: 'removal', of: component };
    const isHeldBy = (step: Step): boolean => {
      // What is being removed waits for nothing else to be ready, once those that wait for it are left out.
      const follow = (from: Step) =>
        this.#after(from).filter(({ kind }) => step.kind === 'ready' || kind === 'removal');
      return !reaches(step, removal, follow);
    };
    return this.#after(removal)
      .filter(isHeldBy)
      .map(({ of }) => of);
  }

  /** What comes before a step. */
  #after({ kind, of }: Step): Step[] {
    return kind === 'removal' ? this.#beforeRemoval(of) : this.#beforeReady(of);
  }

  #beforeRemoval(component: string): Step[] {
    const isInSpec = this.#components.has(component);
    if (isInSpec) return this.#decided.isSettled(component) ? [] : [{ kind: 'ready', of: component }];
    const users = (entries: readonly InventoryEntry[]) =>
      entries.filter(({ dependsOn }) => dependsOn.includes(component)).map((entry) => entry.component);
    return [
      ...users(this.#gone).map((of): Step => ({ kind: 'removal', of })),
      // The inventory is that of the reconcile before. That of this one is stored without another reconcile.
      ...users(this.#entries).flatMap((of): Step[] => (this.#decided.isReady(of) ? [] : [{ kind: 'ready', of }])),
    ];
  }

  #beforeReady(name: string): Step[] {
    const component = this.#components.get(name);
    if (component === undefined || this.#decided.isReady(name)) return [];
    const held = component.objects.flatMap(({ live, heldBy }) =>
      live !== undefined && heldBy !== undefined && isOfStack(live, this.#stack) ? [heldBy] : [],
    );
    return [
      ...(component.spec.dependsOn ?? []).map((of): Step => ({ kind: 'ready', of })),
      ...[...new Set(held)].map((of): Step => ({ kind: 'removal', of })),
    ];
  }
}

/** Whether a step comes, directly or not, after another one. */
function reaches(from: Step, to: Step, before: (step: Step) => readonly Step[]): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    if (step.kind === to.kind && step.of === to.of) return true;
    const key = `${step.kind} ${step.of}`;
    if (seen.has(key)) continue;
    seen.add(key);
    open.push(...before(step));
  }
  return false;
}
