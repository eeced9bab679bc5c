import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { bundle } from '../../../scripts/build.ts';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { isConflict, isNotFound } from '../../../src/runtime/client/errors.ts';
import { NAMESPACES, PODS, SERVICES } from '../../../src/runtime/client/resources.ts';
import { measured, seconds, sleep, until } from '../../harness/measured.ts';
import { historyOf, judge, leftIn, WITH_HISTORY } from './history.ts';
import { Replicas } from './replicas.ts';
import { component, LEASE_RIGHTS, startScene, type StackScene } from './scene.ts';

/**
 * Stacks are brought up, upgraded and deleted over and over, while leaders of the operator are killed or told to end, and the API server
 * is killed, at random times. STACK_KILLS: how many; STACK_SEED: of the random times.
 */
const KILLS = Number(process.env.STACK_KILLS ?? '100');
const SEED = Number(process.env.STACK_SEED ?? Date.now() % 1_000_000);
const STACKS = ['s0', 's1', 's2'];
/** Of each so many, one is a change of the leader without a kill, and one is a kill of the API server. */
const CHANGE_EVERY = 10;
const API_SERVER_EVERY = 20;
const LONGEST_PAUSE_MS = 1_500;
/** Share of the kills for which one leads at first. */
const LEADING = 0.8;
const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

type Phase = 'bring-up' | 'upgrade' | 'deletion';
const random = randomFrom(SEED);
const phases = new Map<string, Phase>();
const killedIn: Record<Phase, number> = { 'bring-up': 0, upgrade: 0, deletion: 0 };
let directory: string;
let s: StackScene;
let replicas: Replicas;
let isOver = false;
let lives = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'bundle-'));
  await bundle(MAIN, directory);
  s = await startScene('stack-killed', {
    plane: { apiServerFlags: WITH_HISTORY },
    rights: (all) => [...all, LEASE_RIGHTS],
  });
  await s.f.client.create(NAMESPACES, { metadata: { name: 'traffic-operator-system' } });
  replicas = new Replicas(s.f, `${directory}/main.js`, s.kubeconfig);
  await replicas.add();
  await replicas.add();
});
beforeEach(({ onTestFailed }) => {
  onTestFailed(async () => console.log(await picture()));
});
afterAll(async () => {
  await replicas.stop();
  await s.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Eight components in five stages, of which each round changes the images of some. */
function graph(stack: string, images: readonly number[]): ComponentSpec[] {
  const name = (short: string): string => `${stack}-${short}`;
  const part = (n: number, short: string, dependsOn: string[], over: Parameters<typeof component>[1] = {}) =>
    component(name(short), { ...over, image: `${short}:${images[n] ?? 0}`, dependsOn: dependsOn.map(name) });
  const two = { workload: { replicas: 2 } };
  const services = [{ headless: true, ports: [{ port: 5432 }] }];
  return [
    part(7, 'edge', ['web'], { kind: 'DaemonSet' }),
    part(6, 'report', ['jobs', 'auth']),
    part(5, 'jobs', ['api'], { kind: 'StatefulSet' }),
    part(4, 'web', ['api', 'auth'], two),
    part(3, 'auth', ['db']),
    part(2, 'api', ['db', 'cache'], two),
    part(1, 'cache', [], { kind: 'DaemonSet' }),
    part(0, 'db', [], { kind: 'StatefulSet', workload: { replicas: 2, services } }),
  ];
}

/** Repeats what a person does until the API server has taken it. */
async function persist<T>(what: string, work: () => Promise<T>): Promise<void> {
  await until(what, () => work().then(() => true), { timeout: 120_000, every: 200 });
}

/** Lives of one stack, until the kills are over. */
async function live(name: string): Promise<void> {
  while (!isOver) {
    let images = Array<number>(8).fill(1);
    phases.set(name, 'bring-up');
    await persist('it is created', () => s.create(name, graph(name, images)).catch(ignore(isConflict)));
    await persist('it is ready', () => ready(name, images));
    phases.set(name, 'upgrade');
    for (let round = 2; round < 4; round += 1) {
      images = images.map((image, n) => (n === 0 || random() < 0.5 ? round : image));
      await persist('it is changed', () => s.change(name, graph(name, images)));
      // Sometimes it is changed again on the way.
      if (random() < 0.5) await persist('it is ready', () => ready(name, images));
      else await sleep(random() * 2_000);
    }
    phases.set(name, 'deletion');
    await persist('it is deleted', () => s.f.client.delete(TRAFFIC_STACKS, { name }));
    await persist('it is gone', () =>
      s.stack(name).then(() => Promise.reject(new Error('there')), rethrowBut(isNotFound)),
    );
    phases.delete(name);
    lives += 1;
  }
}

/** Throws unless the stack is ready with these images. */
async function ready(name: string, images: readonly number[]): Promise<void> {
  const { metadata, status } = await s.stack(name);
  expect(status?.observedGeneration).toBe(metadata?.generation);
  expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
  const versions = graph(name, images).map((each) => each.workload?.podTemplate?.spec?.containers[0]?.image);
  expect(status?.components?.map(({ version }) => version).sort()).toEqual(versions.sort());
}

const ignore = (is: (error: unknown) => boolean) => rethrowBut(is);
const rethrowBut =
  (is: (error: unknown) => boolean) =>
  (error: unknown): void => {
    if (!is(error)) throw error;
  };

/** What is there, for a failure. */
async function picture(): Promise<string> {
  const stacks = await s.f.client.list(TRAFFIC_STACKS);
  const pods = (await s.f.client.list(PODS)).map(({ metadata, status }) => {
    return `${metadata?.name ?? ''} ${String(metadata?.deletionTimestamp ?? '')} ${status?.phase ?? ''}`;
  });
  const logs = readFileSync(`${s.f.controlPlane.directory}/operators.log`, 'utf8').split('\n').slice(-40);
  const components = stacks.map(({ metadata, status }) => [metadata?.name, ...(status?.components ?? [])]);
  return JSON.stringify({ components, workloads: await s.workloads(), pods, logs }, null, 2);
}

/** mulberry32 */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

it(`keeps the order over ${KILLS} kills, and leaves nothing over`, { timeout: 900_000 }, async () => {
  measured(`seed ${SEED}`);
  const began = performance.now();
  const living = Promise.all(STACKS.map(live));
  // A failure is thrown below.
  living.catch(() => (isOver = true));
  const done = { kill: 0, change: 0, apiServer: 0 };
  for (let n = 1; n <= KILLS && !isOver; n += 1) {
    // Some are killed while they start.
    if (random() < LEADING) await replicas.leading();
    await sleep(random() * LONGEST_PAUSE_MS);
    for (const phase of phases.values()) killedIn[phase] += 1;
    if (n % API_SERVER_EVERY === 0) {
      done.apiServer += 1;
      await s.f.controlPlane.stopApiServer();
      await sleep(random() * LONGEST_PAUSE_MS);
      await s.f.controlPlane.startApiServer();
    } else if (n % CHANGE_EVERY === 0) {
      done.change += 1;
      await replicas.change();
    } else {
      done.kill += 1;
      await replicas.kill();
    }
  }
  isOver = true;
  await living;
  const history = await historyOf(s.f.controlPlane);
  const { violations, ...counts } = judge(history);
  measured(
    `${done.kill} kills of the leader, ${done.change} changes of it, ${done.apiServer} kills of the API server in ` +
      `${seconds(performance.now() - began)}: ${JSON.stringify(killedIn)}, ${lives} lives of a stack, ` +
      `workloads: ${JSON.stringify(counts)}`,
  );
  expect(violations).toEqual([]);
  await until('all pods are gone', async () => leftIn(await historyOf(s.f.controlPlane)).length === 0);
  expect((await s.f.client.list(SERVICES)).map(({ metadata }) => metadata?.name)).toEqual(['kubernetes']);
  expect(counts.created).toBeGreaterThanOrEqual(lives * 8);
  expect(counts.removed).toBeGreaterThanOrEqual(lives * 8);
  expect(counts.changed).toBeGreaterThan(lives);
  // Kills of nothing would prove nothing.
  for (const count of Object.values(killedIn)) expect(count).toBeGreaterThan(KILLS / 10);
});
