import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS, type TrafficStackSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { isConflict, isNotFound } from '../../../src/runtime/client/errors.ts';
import { NAMESPACES, NODES } from '../../../src/runtime/client/resources.ts';
import { seeded } from '../../../src/connectivity/localise/testing/random.ts';
import { measured, seconds, sleep, until } from '../../harness/measured.ts';
import { operatorMain } from '../../harness/operatorMain.ts';
import { imageIn } from './imageIn.ts';
import { historyOf, leftIn, WITH_HISTORY } from './judge/history.ts';
import { judge, type Verdict } from './judge/judge.ts';
import { GATE_OPENED } from './judge/upgrade.ts';
import { NODE } from './kubelet.ts';
import {
  COUNT,
  EXPECTED,
  imageOf,
  MAY_FAIL,
  retainedClaims,
  ROLE,
  stackSpec,
  type Course,
  type Version,
} from './lives.ts';
import { picture } from './picture.ts';
import { Replicas } from './replicas.ts';
import { LEASE_RIGHTS, PERSON, startScene, WAIT, type StackScene } from './scene.ts';

/**
 * Stacks are brought up, upgraded and deleted over and over, while leaders of the operator are killed or get SIGTERM, and the API server
 * is killed, at random times. They have files, high availability and claims. In each life of one of them an upgrade fails and is rolled
 * back, and in each life of another stack a gate holds the upgrade for a while. STACK_KILLS: how many, a hundred in the long level; STACK_SEED: of
 * the random times.
 */
const KILLS = Number(process.env.STACK_KILLS ?? '12');
const SEED = Number(process.env.STACK_SEED ?? Date.now() % 1_000_000);
const COURSES: Readonly<Record<string, Course>> = { s0: 'plain', s1: 'rollback', s2: 'gate' };
const STACKS = Object.keys(COURSES);
/** One of so many kills is a change of the leader without a kill, and one is a kill of the API server. A dozen has at least one of each. */
const CHANGE_EVERY = Math.min(10, Math.ceil(KILLS / 3));
const API_SERVER_EVERY = Math.min(20, Math.ceil(KILLS / 2));
const LONGEST_PAUSE_MS = 1_500;
/** The rest between kills beyond STACK_KILLS, which come until enough of each phase has been seen: without it, no life progresses during so many kills. */
const LONGEST_REST_MS = 12_000;
/**
 * The kills go on until there are enough of each phase, a change that ran was rolled back, and a gate was opened, but not longer. That is
 * for each kill 12 s, in which a leader can take the Lease and a slow machine starts a replica; fewer kills are a failure.
 */
const LONGEST_MS = Math.max(780_000, KILLS * 12_000);
/** For one step of a life after the kills. */
const STEP_MS = 120_000;
/** For the rest of the lives, and the judge. Each step has a deadline of its own, and takes a few seconds. */
const REST_MS = 480_000;
/** Share of the kills for which one leads at first. */
const LEADING = 0.8;
/** Share of the changes that are finished before the next one. */
const FINISHED = 0.5;
/** The end of the first change of a stack, life by life: another change may come on the way, or the stack is deleted as it is then. */
const ENDINGS = ['finished', 'overtaken', 'deleted'] as const;
/** A speed of a device, by which the gate is open or closed. */
const GATE = { node: 'gate', open: 2, closed: 1 };
const QUERY = `max(node_network_speed_bytes{node="${GATE.node}"}) >= ${GATE.open}`;

type Phase = 'bring-up' | 'upgrade' | 'rollback' | 'gate' | 'deletion';
type Change = (versions: readonly Version[]) => Promise<unknown>;
type Upgrade = (
  name: string,
  versions: Version[],
  how: { readonly change: Change; readonly ending: (typeof ENDINGS)[number] },
) => Promise<void>;
const random = seeded(SEED);
const phases = new Map<string, Phase>();
/** Kills of nothing would prove nothing: more than so many of each phase. Only some lives have a rollback or a gate. */
const TOO_FEW: Readonly<Record<Phase, number>> = {
  ...{ 'bring-up': KILLS / 10, upgrade: KILLS / 10, deletion: KILLS / 10 },
  ...{ rollback: KILLS / 50, gate: KILLS / 50 },
};
const killedIn: Record<Phase, number> = { 'bring-up': 0, upgrade: 0, rollback: 0, gate: 0, deletion: 0 };
/** Counts of completed lives, rollbacks and gates. */
const seen = { lives: 0, rollbacks: 0, gates: 0 };
let s: StackScene;
let replicas: Replicas;
let isOver = false;

beforeAll(async () => {
  s = await startScene('stack-killed', {
    plane: { apiServerFlags: WITH_HISTORY },
    rights: (all) => [...all, LEASE_RIGHTS],
  });
  await s.f.client.create(NAMESPACES, { metadata: { name: 'traffic-operator-system' } });
  await s.f.client.create(NODES, { metadata: { name: 'n2', labels: ROLE } });
  await s.f.setLabels(NODE, ROLE);
  for (const [, short] of MAY_FAIL) {
    s.kubelet.brokenImages.set(imageOf(short, 'bad'), { reason: 'ErrImagePull', message: 'no such image' });
  }
  replicas = new Replicas(s.f, operatorMain(), s.kubeconfig);
  await replicas.add();
  await replicas.add();
});
beforeEach(({ onTestFailed }) => {
  onTestFailed(async () => console.log(await picture(s)));
});
afterAll(async () => {
  await replicas.stop();
  await s.stop();
});

/**
 * Repeats what a person does until the API server has taken it. While kills go on, it may take any time: on a busy machine a leader does
 * little. After them it has all of its time, also if it has waited before.
 */
async function persist(what: string, work: () => Promise<unknown>): Promise<void> {
  const wasOver = isOver;
  const again = (error: unknown) => {
    if (wasOver) throw error;
    return persist(what, work);
  };
  await until(what, () => work().then(() => true), { timeout: STEP_MS, every: 200 }).catch(again);
}

/** Lives of one stack, until the kills are over. */
async function live(name: string, course: Course): Promise<void> {
  const spec = (versions: readonly Version[]) => stackSpec(name, versions, course, QUERY);
  const change: Change = (versions) =>
    s.f.client.mergePatch(TRAFFIC_STACKS, { name }, { spec: spec(versions) }, PERSON);
  for (let life = 0; !isOver; life += 1) {
    const ending = ENDINGS[life % ENDINGS.length]!;
    let versions: Version[] = Array<Version>(COUNT).fill(1);
    phases.set(name, 'bring-up');
    // It is closed from the beginning: what is new does not wait for it.
    if (course === 'gate') await turnGate('closed');
    const create = () => s.f.client.create(TRAFFIC_STACKS, { metadata: { name }, spec: spec(versions) });
    await persist('it is created', () => create().catch(ignore(isConflict)));
    await persist('it is ready', () => ready(name, spec(versions)));
    versions = versions.map((version, n) => (n === 0 || random() < 0.5 ? 2 : version));
    await UPGRADES[course](name, versions, { change, ending });
    if (ending !== 'deleted') {
      phases.set(name, 'upgrade');
      if (course === 'gate') await openGate(name);
      if (course === 'gate' && ending === 'finished') await persist('it is ready', () => ready(name, spec(versions)));
      versions = versions.map((version, n) => (n === 0 || version === 'bad' || random() < 0.5 ? 3 : version));
      await persist('it is changed', () => change(versions));
      await finish(name, spec(versions));
    }
    phases.set(name, 'deletion');
    await persist('it is deleted', () => s.f.client.delete(TRAFFIC_STACKS, { name }).catch(ignore(isNotFound)));
    await persist('it is gone', () => s.stack(name).then(() => Promise.reject(new Error('there')), ignore(isNotFound)));
    phases.delete(name);
    seen.lives += 1;
  }
}

/** The first change of a stack, by its course. */
const UPGRADES: Readonly<Record<Course, Upgrade>> = {
  async plain(name, versions, { change }) {
    phases.set(name, 'upgrade');
    await persist('it is changed', () => change(versions));
    await finish(name, stackSpec(name, versions, 'plain', QUERY));
  },
  /** With a version that does not start: it is rolled back, unless something else comes before. */
  async rollback(name, versions, { change, ending }) {
    phases.set(name, 'rollback');
    const [n, short] = MAY_FAIL[Math.floor(random() * MAY_FAIL.length)]!;
    const component = `${name}-${short}`;
    const before = { version: imageOf(short, 1) };
    versions[n] = 'bad';
    const bad = { version: imageOf(short, 'bad') };
    await persist('it is changed', () => change(versions));
    await persist('it is being changed', () => expectOf(name, component, bad));
    if (ending !== 'finished' && random() < 0.5) return sleep(random() * 6_000);
    const state = { ...before, state: 'Failed', reason: 'RolledBack', rolledBackFrom: bad };
    // A leader that is killed before it applies the change leaves nothing to restore at the deadline.
    const images = new Set<string | undefined>();
    await persist('it is rolled back', async () => {
      images.add(await imageIn(s.f.client, component));
      await expectOf(name, component, state);
      expect(await imageIn(s.f.client, component)).toBe(before.version);
    });
    if (images.has(bad.version)) seen.rollbacks += 1;
  },
  /** It waits for the gate, over some kills. */
  async gate(name, versions, { change }) {
    phases.set(name, 'gate');
    await persist('it is changed', () => change(versions));
    await persist('it is held', () => expectOf(name, `${name}-db`, { state: 'Waiting', reason: 'WaitingForGate' }));
    const kills = killedIn.gate + 2 + Math.floor(random() * 3);
    while (!isOver && killedIn.gate < kills) await sleep(100);
  },
};

/** Sometimes it is changed again, or deleted, on the way. */
async function finish(name: string, spec: TrafficStackSpec): Promise<void> {
  if (random() < FINISHED) await persist('it is ready', () => ready(name, spec));
  else await sleep(random() * 2_000);
}

async function openGate(name: string): Promise<void> {
  // It is said first, so that no change can come before that is in the history.
  const patch = { metadata: { annotations: { [GATE_OPENED]: 'yes' } } };
  await persist('it is annotated', () => s.f.client.mergePatch(TRAFFIC_STACKS, { name }, patch, PERSON));
  await turnGate('open');
  seen.gates += 1;
}

/** Until Prometheus says so. */
async function turnGate(to: 'open' | 'closed'): Promise<void> {
  s.f.exporter.setDevice(GATE.node, 'eth0', { speed: GATE[to] });
  const query = `node_network_speed_bytes{node="${GATE.node}"} == ${GATE[to]}`;
  const url = `${s.f.prometheusUrl}/api/v1/query?query=${encodeURIComponent(query)}`;
  await until('Prometheus has scraped it', async () => (await (await fetch(url)).text()).includes(`"${GATE.node}"`));
}

/** Throws unless the status has this of a component, with the present spec. */
async function expectOf(name: string, component: string, wanted: object): Promise<void> {
  const { metadata, status } = await s.stack(name);
  expect(status?.observedGeneration).toBe(metadata?.generation);
  expect(status?.components?.find((each) => each.name === component)).toMatchObject(wanted);
}

/** Throws unless the stack is ready with the versions of this spec. */
async function ready(name: string, { components }: TrafficStackSpec): Promise<void> {
  const { metadata, status } = await s.stack(name);
  expect(status?.observedGeneration).toBe(metadata?.generation);
  expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
  const versions = components.map((each) => each.workload?.podTemplate?.spec?.containers[0]?.image);
  expect(status?.components?.map(({ version }) => version).sort()).toEqual(versions.sort());
}

const ignore =
  (is: (error: unknown) => boolean) =>
  (error: unknown): void => {
    if (!is(error)) throw error;
  };

it(`keeps the order over ${KILLS} kills, and leaves nothing over`, { timeout: LONGEST_MS + REST_MS }, async () => {
  measured(`seed ${SEED}`);
  const began = performance.now();
  const living = Promise.all(Object.entries(COURSES).map(([name, course]) => live(name, course)));
  // A failure is thrown below.
  living.catch(() => (isOver = true));
  const done = { kill: 0, ofLeader: 0, change: 0, apiServer: 0 };
  const disturbances = () => done.kill + done.change + done.apiServer;
  const areAll = () => disturbances() >= KILLS && done.change > 0 && done.apiServer > 0;
  // Of a dozen kills, most may by chance be of replicas that did not lead yet.
  const areOfLeaders = () => done.ofLeader > done.kill / 2;
  const hasEnough = () =>
    areAll() && areOfLeaders() && seen.rollbacks > 0 && seen.gates > 0 && tooFewKills().length === 0;
  for (let n = 1; !isOver && !hasEnough() && performance.now() - began < LONGEST_MS; n += 1) {
    // Some are killed while they start.
    if (random() < LEADING) await replicas.leading();
    await sleep(random() * (n <= KILLS ? LONGEST_PAUSE_MS : LONGEST_REST_MS));
    for (const phase of phases.values()) killedIn[phase] += 1;
    if (n % API_SERVER_EVERY === 0) {
      done.apiServer += 1;
      await s.f.controlPlane.stopApiServer();
      await sleep(random() * LONGEST_PAUSE_MS);
      await s.f.controlPlane.startApiServer();
    } else if (n % CHANGE_EVERY === 0) {
      if (await replicas.change()) done.change += 1;
    } else {
      done.kill += 1;
      if (await replicas.kill()) done.ofLeader += 1;
    }
  }
  isOver = true;
  await living;
  const verdict = judge(await historyOf(s.f.controlPlane), EXPECTED);
  const { violations, ...counts } = verdict;
  measured(
    `${done.kill} kills, ${done.ofLeader} of them of the holder of the Lease, ${done.change} changes of it, ${done.apiServer} kills ` +
      `of the API server in ${seconds(performance.now() - began)}: ${JSON.stringify({ ...killedIn, ...seen, ...counts })}`,
  );
  expect(violations).toEqual([]);
  await expectNothingLeft();
  expect(disturbances()).toBeGreaterThanOrEqual(KILLS);
  expect(done.change).toBeGreaterThan(0);
  expect(done.apiServer).toBeGreaterThan(0);
  expectEnough(verdict);
  expect(done.ofLeader).toBeGreaterThan(done.kill / 2);
  expect(tooFewKills()).toEqual([]);
});

/** The phases that had too few kills so far. */
function tooFewKills(): string[] {
  const all = Object.keys(killedIn) as Phase[];
  return all.filter((phase) => killedIn[phase] <= TOO_FEW[phase]).map((phase) => `${phase}: ${killedIn[phase]}`);
}

/** Only the claims that are to be retained are there. Kubernetes itself deletes the others, and pods, in its own time. */
async function expectNothingLeft(): Promise<void> {
  const retained = STACKS.flatMap(retainedClaims).sort();
  await vi.waitFor(async () => expect((await leftIn(s.f.controlPlane)).sort()).toEqual(retained), WAIT);
}

/** A judge of nothing would prove nothing either. */
function expectEnough({ created, changed, waited, removed, restored, opened, withFiles, claims }: Verdict): void {
  expect(created).toBeGreaterThanOrEqual(seen.lives * COUNT);
  expect(removed).toBeGreaterThanOrEqual(seen.lives * COUNT);
  expect(changed).toBeGreaterThan(seen.lives);
  expect(waited).toBeGreaterThan(seen.lives / 2);
  expect(seen.rollbacks).toBeGreaterThan(0);
  expect(restored).toBeGreaterThanOrEqual(seen.rollbacks);
  expect(opened).toBe(seen.gates);
  expect(opened).toBeGreaterThan(0);
  // Two of each of two components, and one claim.
  expect(withFiles).toBeGreaterThanOrEqual(seen.lives * 4);
  // Kubernetes removes them in its own time: the next life may take one over.
  expect(claims).toBeGreaterThan(seen.lives / 2);
}
