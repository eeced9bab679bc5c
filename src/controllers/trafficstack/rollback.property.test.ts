import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ComponentSpec } from '../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { sampleRuns } from '../../runtime/testing/sampleSize.ts';
import { COMPONENT_LABEL } from './names.ts';
import { storedIn } from './render/storedRevision.ts';
import { imageIn, SimulatedCluster } from './testing/simulatedCluster.ts';

const COUNT = 4;
/** Reconciles without a kill, after which everything has to be as it should be. */
const CALM = 24;
const DEADLINE_MS = 60_000;
/** The most writes of an operator that is killed before the next one. */
const MOST_WRITES = 5;

/** A version works, or its pods do not start, or they do and make the query of their component false. */
type Kind = 'works' | 'broken' | 'harmful';
const imageFor = (n: number, number: number, kind: Kind): string =>
  `c${n}:${number}${kind === 'works' ? '' : `-${kind}`}`;

/** A component whose version is in its image and in a file. Its query is its name. */
function component(n: number, dependsOn: readonly string[], image: string): ComponentSpec {
  const podTemplate = { spec: { containers: [{ name: 'main', image }] } };
  const config = [{ name: 'etc', mountPath: '/etc/app', files: { image } }];
  const workload = { kind: 'Deployment' as const, namespace: 'shop', replicas: 2, podTemplate, config };
  return {
    name: `c${n}`,
    type: 'Workload',
    dependsOn: [...dependsOn],
    deadline: '60s',
    ready: { query: `c${n}` },
    workload,
  };
}

/** A life of a stack whose versions work or do not. */
class Life {
  readonly cluster: SimulatedCluster;
  readonly violations: string[] = [];
  readonly #edges: readonly (readonly string[])[];
  readonly #versions: { number: number; kind: Kind }[] = Array.from({ length: COUNT }, () => {
    return { number: 1, kind: 'works' };
  });
  /** The version with which each component was ready last, and its objects as they were applied, by component. */
  readonly #ready = new Map<string, { readonly number: number; readonly objects?: readonly string[] }>();

  /** Components that got another version before they were ready with the one before. */
  readonly #changedAgain = new Set<string>();

  constructor(edges: readonly (readonly string[])[]) {
    this.#edges = edges;
    this.cluster = new SimulatedCluster(this.#components());
    this.cluster.onApply = (object) => this.#check(object);
    this.cluster.isTrue = (name) =>
      !(this.cluster.imageOf(name)?.endsWith('-harmful') && this.cluster.isAvailable(name));
  }

  /** Another version. */
  upgrade(n: number, kind: Kind): void {
    const state = this.cluster.status.components?.find(({ name }) => name === `c${n}`)?.state;
    if (state !== 'Ready') this.#changedAgain.add(`c${n}`);
    this.#versions[n] = { number: (this.#versions[n]?.number ?? 0) + 1, kind };
    this.cluster.change(this.#components());
  }

  /** The pods of a component start, if its image can. */
  start(n: number): void {
    if (!this.cluster.imageOf(`c${n}`)?.endsWith('-broken')) this.cluster.turn(`c${n}`, true);
  }

  fail(n: number): void {
    this.cluster.turn(`c${n}`, false);
  }

  async reconcile(writes?: number): Promise<void> {
    const wasKilled = !(await this.cluster.reconcile(writes));
    for (const { name, state } of this.cluster.status.components ?? []) {
      const number = numberIn(this.cluster.imageOf(name));
      // After a kill, the status is from an earlier time; but the stored revision was ready.
      const isReady = wasKilled ? this.#storedNumber(name) === number : state === 'Ready';
      if (!isReady) continue;
      if (!wasKilled) this.#changedAgain.delete(name);
      // A killed operator may not have removed all former objects.
      this.#ready.set(name, { number, ...(!wasKilled && { objects: this.#objectsOf(name) }) });
    }
  }

  /** The version of the newest stored revision of a component; NaN without one. */
  #storedNumber(name: string): number {
    const revisions = [...this.cluster.objects.values()]
      .filter(({ kind, metadata }) => kind === 'ControllerRevision' && metadata?.labels?.[COMPONENT_LABEL] === name)
      .flatMap((object) => storedIn(object) ?? [])
      .sort((one, other) => other.number - one.number);
    const deployment = revisions[0]?.objects.find(({ resource }) => resource.kind === 'Deployment')?.object;
    return numberIn(deployment && imageIn(deployment));
  }

  async calm(): Promise<void> {
    for (let round = 0; round < CALM; round += 1) {
      await this.reconcile();
      for (let n = 0; n < COUNT; n += 1) this.start(n);
      this.cluster.ask();
      this.cluster.clock.jump(round % 3 === 0 ? DEADLINE_MS : 0);
    }
  }

  /** The faults after a calm time. */
  faults(): string[] {
    return this.#versions.flatMap(({ kind, number }, n) => {
      const name = `c${n}`;
      const last = this.#ready.get(name);
      const status = this.cluster.status.components?.find((each) => each.name === name);
      const image = this.cluster.imageOf(name);
      const found = `${name} is ${status?.state} ${status?.reason} with ${image}`;
      if (status?.state === 'Ready') return kind === 'works' && image === `c${n}:${number}` ? [] : [found];
      if (last === undefined) return [];
      // The version before no longer has a deadline, and the new one waits.
      if (status?.state === 'Waiting' && this.#changedAgain.has(name)) return [];
      // It was ready: it has that version again, or still.
      const isRestored = numberIn(image) === last.number && this.cluster.isAvailable(name);
      const { objects = this.#objectsOf(name) } = last;
      const isExact = JSON.stringify(this.#objectsOf(name)) === JSON.stringify(objects);
      // A version that works may also have missed its deadline.
      const isTold = status?.state === 'Waiting' || status?.reason === 'RolledBack';
      return isRestored && isExact && isTold ? [] : [`${found}, was ready with ${last.number}`];
    });
  }

  /** How many objects of a kind there are. */
  count(kind: string): number {
    return [...this.cluster.objects.values()].filter((object) => object.kind === kind).length;
  }

  #components(): ComponentSpec[] {
    return this.#versions.map(({ number, kind }, n) => component(n, this.#edges[n] ?? [], imageFor(n, number, kind)));
  }

  /**
   * Another version begins only after all that the component depends on was ready as asked for, or runs as restored. A version that was never
   * ready is corrected at once.
   */
  #check(object: KubeObject): void {
    if (object.kind !== 'Deployment') return;
    const name = object.metadata?.labels?.[COMPONENT_LABEL] ?? '';
    const n = Number(name.slice(1));
    const image = imageIn(object);
    const present = this.cluster.imageOf(name);
    // Not a restored one, and not one that is corrected.
    if (image === present || image !== imageOf(this.#components()[n])) return;
    if (present !== undefined && this.#ready.get(name)?.number !== numberIn(present)) return;
    for (const dependency of this.#edges[n] ?? []) {
      const has = this.cluster.imageOf(dependency);
      const isAsWanted = has === imageOf(this.#components()[Number(dependency.slice(1))]);
      const wasReady = this.#ready.get(dependency)?.number === numberIn(has);
      if (isAsWanted ? this.cluster.isAvailable(dependency) || wasReady : wasReady && present === undefined) continue;
      this.violations.push(`${name} was changed before ${dependency} was ready`);
    }
  }

  /** Without what is stored, and what the cluster adds. */
  #objectsOf(name: string): string[] {
    return [...this.cluster.objects.values()]
      .filter(({ kind, metadata }) => kind !== 'ControllerRevision' && metadata?.labels?.[COMPONENT_LABEL] === name)
      .map((object) => JSON.stringify({ ...object, metadata: { ...object.metadata, uid: '' }, status: {} }))
      .sort();
  }
}

function imageOf(spec: ComponentSpec | undefined): string | undefined {
  return spec?.workload?.podTemplate?.spec?.containers[0]?.image;
}

function numberIn(image = ''): number {
  return Number.parseInt(image.slice(image.indexOf(':') + 1), 10);
}

const graph = fc
  .array(fc.array(fc.nat(COUNT - 1), { maxLength: 3, size: 'max' }), { minLength: COUNT, maxLength: COUNT })
  .map((edges) => edges.map((before, n) => [...new Set(before.filter((m) => m < n).map((m) => `c${m}`))]));
const kind = fc.constantFrom<Kind>('works', 'broken', 'harmful');
const step = fc.oneof(
  fc.record({ kind: fc.constant('start' as const), of: fc.nat(COUNT - 1) }),
  fc.record({ kind: fc.constant('fail' as const), of: fc.nat(COUNT - 1) }),
  fc.record({ kind: fc.constant('upgrade' as const), of: fc.nat(COUNT - 1), version: kind }),
  fc.record({ kind: fc.constant('ask' as const), isDue: fc.boolean() }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(2 * DEADLINE_MS) }),
  fc.record({ kind: fc.constant('reconcile' as const), writes: fc.nat(MOST_WRITES) }),
  fc.constant({ kind: 'reconcile' as const, writes: Infinity }),
  fc.constant({ kind: 'calm' as const }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const NO_EDGES: string[][] = Array.from({ length: COUNT }, () => []);
/** The operator is killed when it has stored that a version is ready, and has not said so. */
const KILLED_AFTER_STORE: Step[] = [
  { kind: 'calm' },
  { kind: 'upgrade', of: 2, version: 'works' },
  { kind: 'reconcile', writes: 4 },
  { kind: 'start', of: 2 },
  { kind: 'reconcile', writes: Infinity },
  { kind: 'ask', isDue: false },
  { kind: 'reconcile', writes: 2 },
  { kind: 'upgrade', of: 2, version: 'broken' },
];
/** The query was true of the version before. */
const HARMFUL_AFTER_ANSWER: Step[] = [{ kind: 'calm' }, { kind: 'upgrade', of: 0, version: 'harmful' }];

async function take(life: Life, next: Step): Promise<void> {
  if (next.kind === 'start') life.start(next.of);
  else if (next.kind === 'fail') life.fail(next.of);
  else if (next.kind === 'upgrade') life.upgrade(next.of, next.version);
  else if (next.kind === 'ask') life.cluster.ask(next.isDue);
  else if (next.kind === 'wait') life.cluster.clock.jump(next.ms);
  else if (next.kind === 'calm') await life.calm();
  else await life.reconcile(next.writes);
}

it('a failed upgrade ends with the last ready version, in order, and leaves nothing, wherever the operator is killed', async () => {
  await fc.assert(
    fc.asyncProperty(graph, fc.array(step, { maxLength: 20, size: 'max' }), async (edges, steps) => {
      const life = new Life(edges);
      for (const next of steps) await take(life, next);
      await life.calm();
      expect(life.faults()).toEqual([]);
      for (let n = 0; n < COUNT; n += 1) life.upgrade(n, 'works');
      await life.calm();
      expect(life.cluster.status.components?.map(({ state }) => state)).toEqual(Array(COUNT).fill('Ready'));
      expect(life.faults()).toEqual([]);
      expect(['Deployment', 'ConfigMap', 'ControllerRevision'].map((kind) => life.count(kind))).toEqual([
        COUNT,
        COUNT,
        COUNT,
      ]);
      life.cluster.delete();
      for (let writes = 0; writes <= MOST_WRITES; writes += 1) await life.reconcile(writes);
      await life.calm();
      expect([...life.cluster.objects.keys()]).toEqual([]);
      expect(life.violations).toEqual([]);
    }),
    {
      ...sampleRuns({ numRuns: 8, seed: 3 }, { numRuns: 80 }),
      examples: [
        [NO_EDGES, KILLED_AFTER_STORE],
        [NO_EDGES, HARMFUL_AFTER_ANSWER],
      ],
    },
  );
}, 300_000);
