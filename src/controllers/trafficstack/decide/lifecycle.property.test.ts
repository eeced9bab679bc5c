import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ComponentSpec, TrafficStackStatus } from '../../../api/trafficstack/trafficStack.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { component, live, NOW, rendered, stackOf } from '../testing/stacks.ts';
import { orderComponents } from './graph.ts';
import { planStack, type StackPlan } from './plan.ts';

/** A Deployment of the simulated cluster. */
interface Simulated {
  readonly spec: ComponentSpec;
  version: number;
  isAvailable: boolean;
  /** What its older pods depend on, which run until the new ones are available. */
  olderNeeds: readonly string[];
}

const COUNT = 6;
/** Reconciles without a kill or a failure, after which everything has to be as asked for. */
const CALM = 40;

/** A cluster in which an operator is killed in the middle of its writes. */
class Simulation {
  readonly #cluster = new Map<string, Simulated>();
  #status: TrafficStackStatus = {};
  #components: readonly ComponentSpec[];
  /** Of the pod template of each component. */
  readonly #versions = new Map<string, number>();
  readonly violations: string[] = [];

  constructor(components: readonly ComponentSpec[]) {
    this.#components = components;
  }

  /** Names of the Deployments that exist, with their state. */
  get cluster(): string[] {
    return [...this.#cluster].map(([name, { version, isAvailable }]) => `${name} ${version} ${isAvailable}`).sort();
  }

  get wanted(): string[] {
    return this.#components.map(({ name }) => `${name} ${this.#versionOf(name)} true`).sort();
  }

  /** Pods of a component become available, or stop being so. */
  turn(name: string, isAvailable: boolean): void {
    const found = this.#cluster.get(name);
    if (found === undefined) return;
    found.isAvailable = isAvailable;
    if (isAvailable) found.olderNeeds = [];
  }

  /** The spec has the component no more; those that depended on it get new pods, which do not. */
  drop(name: string): void {
    for (const { name: user } of this.#components.filter(({ dependsOn }) => dependsOn?.includes(name)))
      this.upgrade(user);
    this.#components = this.#components
      .filter((each) => each.name !== name)
      .map((each) => ({ ...each, dependsOn: (each.dependsOn ?? []).filter((other) => other !== name) }));
  }

  upgrade(name: string): void {
    this.#versions.set(name, this.#versionOf(name) + 1);
  }

  delete(): void {
    this.#components = [];
  }

  /** One reconcile. @param writes how many writes succeed before the operator is killed */
  reconcile(writes = Infinity): void {
    const plan = this.#plan();
    let left = writes;
    const may = (): boolean => left-- > 0;
    if (!may()) return;
    // As reconcile.ts: the status is written first, with what is about to be created.
    this.#status = { observedGeneration: 2, components: [...plan.statuses], inventory: [...plan.inventory] };
    for (const { component: name, isCurrent } of plan.apply) if (!isCurrent && may()) this.#apply(name);
    for (const { component: name } of plan.remove) if (may()) this.#remove(name);
  }

  #plan(): StackPlan {
    const ordered = orderComponents(this.#components);
    const specs = 'components' in ordered ? ordered.components : [];
    const stack = stackOf(specs, this.#status);
    const components = specs.map((spec) => {
      const found = this.#cluster.get(spec.name);
      const { objects: desiredObjects, variables } = rendered(spec, stack);
      const objects = desiredObjects.map((desired) => ({
        ...desired,
        hash: '',
        live: found && live(desired.object, found.isAvailable ? 2 : 0),
        isCurrent: found?.version === this.#versionOf(spec.name),
      }));
      return { spec, objects, variables, pods: [], revision: `${this.#versionOf(spec.name)}` };
    });
    // Only what is in the inventory is known.
    const known = (this.#status.inventory ?? []).map((entry) => entry.component);
    const left = known.filter((name) => this.#cluster.has(name) && !specs.some((spec) => spec.name === name));
    return planStack({
      ...{ stack, components, withPods: new Set<string>(), now: NOW },
      left: left.map((name) => ({ component: name, resource: DEPLOYMENTS, live: { metadata: { name } } })),
    });
  }

  #apply(name: string): void {
    const spec = this.#components.find((each) => each.name === name);
    for (const dependency of spec?.dependsOn ?? []) {
      const { isAvailable, version } = this.#cluster.get(dependency) ?? {};
      if (isAvailable === true && version === this.#versionOf(dependency)) continue;
      this.violations.push(`${name} was applied before ${dependency} was ready`);
    }
    if (spec === undefined) return;
    const before = this.#cluster.get(name);
    const olderNeeds = [...(before?.spec.dependsOn ?? []), ...(before?.olderNeeds ?? [])];
    this.#cluster.set(name, { spec, version: this.#versionOf(name), isAvailable: false, olderNeeds });
  }

  #remove(name: string): void {
    for (const { spec, olderNeeds } of this.#cluster.values()) {
      const needs = [...(spec.dependsOn ?? []), ...olderNeeds];
      if (needs.includes(name)) this.violations.push(`${name} was removed before ${spec.name}`);
    }
    this.#cluster.delete(name);
  }

  #versionOf(name: string): number {
    return this.#versions.get(name) ?? 1;
  }
}

const graph = fc
  .array(fc.array(fc.nat(COUNT - 1), { maxLength: 3 }), { minLength: COUNT, maxLength: COUNT })
  .map((edges) =>
    edges.map((before, n) => {
      const dependsOn = [...new Set(before.filter((other) => other < n).map((other) => `c${other}`))];
      return component(`c${n}`, { dependsOn });
    }),
  );
const step = fc.oneof(
  fc.record({ kind: fc.constant('turn' as const), of: fc.nat(COUNT - 1), isAvailable: fc.boolean() }),
  fc.record({ kind: fc.constant('upgrade' as const), of: fc.nat(COUNT - 1) }),
  fc.record({ kind: fc.constant('drop' as const), of: fc.nat(COUNT - 1) }),
  fc.record({ kind: fc.constant('reconcile' as const), writes: fc.nat(4) }),
  fc.constant({ kind: 'reconcile' as const, writes: Infinity }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function take(simulation: Simulation, next: Step): void {
  if (next.kind === 'turn') simulation.turn(`c${next.of}`, next.isAvailable);
  else if (next.kind === 'upgrade') simulation.upgrade(`c${next.of}`);
  else if (next.kind === 'drop') simulation.drop(`c${next.of}`);
  else simulation.reconcile(next.writes);
}

function calm(simulation: Simulation): void {
  for (let round = 0; round < CALM; round += 1) {
    simulation.reconcile();
    for (let n = 0; n < COUNT; n += 1) simulation.turn(`c${n}`, true);
  }
}

it('no stage is skipped or out of order, and nothing is left over, wherever the operator is killed', () => {
  const steps = fc.array(step, { maxLength: 60 });
  fc.assert(
    fc.property(graph, steps, steps, fc.boolean(), (components, first, second, isCalm) => {
      const simulation = new Simulation(components);
      for (const next of first) take(simulation, next);
      if (isCalm) {
        calm(simulation);
        expect(simulation.cluster).toEqual(simulation.wanted);
      }
      simulation.delete();
      for (const next of second) take(simulation, next);
      calm(simulation);
      expect(simulation.cluster).toEqual([]);
      expect(simulation.violations).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
});
