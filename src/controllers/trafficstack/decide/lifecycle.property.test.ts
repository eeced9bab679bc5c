import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ComponentSpec, TrafficStackStatus } from '../../../api/trafficstack/trafficStack.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { sampleRuns } from '../../../runtime/testing/sampleSize.ts';
import { orderComponents } from '../model/desired.ts';
import { component, live, NOW, rendered, stackOf } from '../testing/stacks.ts';
import { planStack, type StackPlan } from './plan.ts';

/** A Deployment of the simulated cluster, by its name. Its component may have another name. */
interface Simulated {
  spec: ComponentSpec;
  version: number;
  isAvailable: boolean;
  /** Whether a reconcile saw it available with this version, and its status says so. */
  wasSeen: boolean;
  /** Components on which its older pods depend; these pods run until the new ones are available. */
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
  /** The version of the pod template of each component. */
  readonly #versions = new Map<string, number>();
  readonly violations: string[] = [];
  #names = 0;

  constructor(components: readonly ComponentSpec[]) {
    this.#components = components;
  }

  /** Names of the Deployments that exist, with their state. */
  get cluster(): string[] {
    return [...this.#cluster]
      .map(([name, { spec, version, isAvailable }]) => `${name} of ${spec.name} ${version} ${isAvailable}`)
      .sort();
  }

  get wanted(): string[] {
    return this.#components
      .map((spec) => `${workloadOf(spec)} of ${spec.name} ${this.#versionOf(spec.name)} true`)
      .sort();
  }

  /** Pods of a Deployment become available, or stop being so. */
  turn(name: string, isAvailable: boolean): void {
    const found = this.#cluster.get(name);
    if (found === undefined) return;
    found.isAvailable = isAvailable;
    if (!isAvailable) return;
    found.olderNeeds = [];
    this.#settle(found);
  }

  /** Pods that are as asked for need what the spec says, also if it has other names for that. */
  #settle(found: Simulated): void {
    const { name } = found.spec;
    const spec = this.#components.find((each) => each.name === name);
    if (found.isAvailable && spec !== undefined && found.version === this.#versionOf(name)) found.spec = spec;
  }

  /** The name of the component which has a workload now. */
  nameOf(workload: string): string {
    return this.#components.find((each) => workloadOf(each) === workload)?.name ?? workload;
  }

  /** Removes the component from the spec; its dependents get new pods, which do not depend on it. */
  drop(name: string): void {
    for (const { name: user } of this.#components.filter(({ dependsOn }) => dependsOn?.includes(name)))
      this.upgrade(user);
    this.#components = this.#components
      .filter((each) => each.name !== name)
      .map((each) => ({ ...each, dependsOn: (each.dependsOn ?? []).filter((other) => other !== name) }));
  }

  /** A component gets another name, and keeps its workload. @param isChange whether those that depend on it get new pods */
  rename(workload: string, isChange: boolean): void {
    const old = this.#components.find((each) => workloadOf(each) === workload);
    if (old === undefined) return;
    const name = `${workload}-${(this.#names += 1)}`;
    this.#components = this.#components.map((each) => {
      const dependsOn = (each.dependsOn ?? []).map((other) => (other === old.name ? name : other));
      if (isChange && each.dependsOn?.includes(old.name)) this.upgrade(each.name);
      if (each !== old) return { ...each, dependsOn };
      return component(name, { dependsOn, workload: { ...component(name).workload, name: workload } });
    });
    for (const found of this.#cluster.values()) this.#settle(found);
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
    for (const found of this.#cluster.values()) found.wasSeen ||= found.isAvailable;
    for (const { component: name, isCurrent } of plan.apply) if (!isCurrent && may()) this.#apply(name);
    for (const { live: removed } of plan.remove) if (may()) this.#remove(removed.metadata?.name ?? '');
  }

  #plan(): StackPlan {
    const ordered = orderComponents(this.#components);
    const specs = 'components' in ordered ? ordered.components : [];
    const stack = stackOf(specs, this.#status);
    const components = specs.map((spec) => {
      const found = this.#cluster.get(workloadOf(spec));
      const heldBy = found === undefined || found.spec.name === spec.name ? undefined : found.spec.name;
      const { objects: desiredObjects, variables } = rendered(spec, stack);
      const objects = desiredObjects.map((desired) => ({
        ...desired,
        hash: '',
        live: found && live(desired.object, found.isAvailable ? 2 : 0),
        isCurrent: heldBy === undefined && found?.version === this.#versionOf(spec.name),
        heldBy,
      }));
      return { spec, objects, variables, pods: [], revision: `${this.#versionOf(spec.name)}` };
    });
    // Only what is in the inventory is known.
    const known = new Set((this.#status.inventory ?? []).map((entry) => entry.component));
    const left = [...this.#cluster].filter(
      ([
        ,
        {
          spec: { name },
        },
      ]) => known.has(name) && !specs.some((spec) => spec.name === name),
    );
    return planStack({
      ...{ stack, components, withPods: new Map(), now: NOW },
      left: left.map(([name, { spec }]) => ({
        component: spec.name,
        resource: DEPLOYMENTS,
        live: { metadata: { name } },
      })),
    });
  }

  #apply(name: string): void {
    const spec = this.#components.find((each) => each.name === name);
    if (spec === undefined) return;
    const before = this.#cluster.get(workloadOf(spec));
    for (const dependency of spec.dependsOn ?? []) {
      const { isAvailable, version, wasSeen } = this.#of(dependency) ?? {};
      // A correction of a version that never was available waits for nothing, and a later change for no dependency that was available.
      if (before !== undefined && (!before.wasSeen || wasSeen === true)) continue;
      if (isAvailable === true && version === this.#versionOf(dependency)) continue;
      this.violations.push(`${name} was applied before ${dependency} was ready`);
    }
    if (before !== undefined && before.spec.name !== name)
      this.violations.push(`${name} took ${workloadOf(spec)} over`);
    const olderNeeds = [...(before?.spec.dependsOn ?? []), ...(before?.olderNeeds ?? [])];
    const applied = { spec, version: this.#versionOf(name), isAvailable: false, wasSeen: false, olderNeeds };
    this.#cluster.set(workloadOf(spec), applied);
  }

  #of(name: string): Simulated | undefined {
    return [...this.#cluster.values()].find(({ spec }) => spec.name === name);
  }

  #remove(workload: string): void {
    const name = this.#cluster.get(workload)?.spec.name ?? '';
    for (const { spec, olderNeeds } of this.#cluster.values()) {
      const needs = [...(spec.dependsOn ?? []), ...olderNeeds];
      if (needs.includes(name) && !this.#waitsFor(spec.name, workload)) {
        this.violations.push(`${name} was removed before ${spec.name}`);
      }
    }
    this.#cluster.delete(workload);
  }

  /** Whether a component depends, by its present spec, on a component whose workload is still of an older one. */
  #waitsFor(name: string, workload: string): boolean {
    const { dependsOn = [] } = this.#components.find((each) => each.name === name) ?? {};
    const others = this.#components.filter((each) => dependsOn.includes(each.name));
    return others.some((each) => workloadOf(each) === workload || this.#waitsFor(each.name, workload));
  }

  #versionOf(name: string): number {
    return this.#versions.get(name) ?? 1;
  }
}

function workloadOf({ name, workload }: ComponentSpec): string {
  return workload?.name ?? name;
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
  fc.record({ kind: fc.constant('rename' as const), of: fc.nat(COUNT - 1), isChange: fc.boolean() }),
  fc.record({ kind: fc.constant('reconcile' as const), writes: fc.nat(4) }),
  fc.constant({ kind: 'reconcile' as const, writes: Infinity }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function take(simulation: Simulation, next: Step): void {
  if (next.kind === 'turn') simulation.turn(`c${next.of}`, next.isAvailable);
  else if (next.kind === 'upgrade') simulation.upgrade(simulation.nameOf(`c${next.of}`));
  else if (next.kind === 'drop') simulation.drop(simulation.nameOf(`c${next.of}`));
  else if (next.kind === 'rename') simulation.rename(`c${next.of}`, next.isChange);
  else simulation.reconcile(next.writes);
}

function calm(simulation: Simulation): void {
  for (let round = 0; round < CALM; round += 1) {
    simulation.reconcile();
    for (let n = 0; n < COUNT; n += 1) simulation.turn(`c${n}`, true);
  }
}

/** Each depends on the one before. All are ready, then one gets another name, and the next one changes. */
const ROW = Array.from({ length: COUNT }, (_, n) => component(`c${n}`, { dependsOn: n === 0 ? [] : [`c${n - 1}`] }));
const RENAMED: Step[] = [
  ...ROW.flatMap((_, of): Step[] => [
    { kind: 'reconcile', writes: Infinity },
    { kind: 'turn', of, isAvailable: true },
  ]),
  { kind: 'reconcile', writes: Infinity },
  { kind: 'rename', of: 1, isChange: true },
];
/** The operator is killed between the status, which names what is about to be created, and the write; then the dependency changes. */
const KILLED: Step[] = [
  { kind: 'reconcile', writes: 2 },
  { kind: 'turn', of: 0, isAvailable: true },
  { kind: 'reconcile', writes: 1 },
  { kind: 'upgrade', of: 0 },
];
/** Removes a component while a former dependent is not ready. One of 1,000 random lives finds that. */
const DROPPED: Step[] = [
  { kind: 'reconcile', writes: Infinity },
  { kind: 'turn', of: 0, isAvailable: true },
  { kind: 'reconcile', writes: 2 },
  { kind: 'drop', of: 0 },
  { kind: 'reconcile', writes: 1 },
];

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
    {
      ...sampleRuns({ numRuns: 60, seed: 1 }, { numRuns: 1_000 }),
      examples: [
        [ROW, RENAMED, [], true],
        [ROW, DROPPED, [], true],
        [ROW, KILLED, [], true],
      ],
    },
  );
}, 300_000);
