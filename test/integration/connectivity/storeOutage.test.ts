import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AGENTS } from '../../../src/api/agent/schema.ts';
import { agentCrd, installCrd } from '../../harness/customResource.ts';
import { startEtcd, type Etcd } from '../../harness/etcd.ts';
import { measured, seconds, sleep, until } from '../../harness/measured.ts';
import { SLACK } from '../../harness/slack.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { createAgents, limitedUser, tokenOf } from './authWorld.ts';
import { startAgent, startServer, type ConnectivityServer } from './world.ts';
import type { Program } from '../../harness/program.ts';

/**
 * The API server and etcd are away, each the store of one server, while real agents with real tokens report to both. STORE_OUTAGE_SECONDS=600 makes it the
 * ten minutes of docs/reliability.md: ten TTLs, and the verdicts on tokens, kept for five minutes, become old.
 */
const OUTAGE_MS = Number(process.env.STORE_OUTAGE_SECONDS ?? Math.max(30, 15 * SLACK)) * 1_000;
/** An agent that must wait for a processor for an interval is outdated. With GOALS, the shortest of a ConnectivityCheck. */
const INTERVAL_MS = Math.max(5_000, 2_500 * SLACK);
const AUDIENCE = 'traffic-operator-connectivity';
const NODES = { a: 'n1', b: 'n2' } as const;
const KINDS = ['crd', 'etcd'] as const;
const CHECK = '/api/v1/connectivity_check';

const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client, agentCrd(), AGENTS);
  await createAgents(client, NODES);
});
let directory: string;
let etcd: Etcd;
let kubeconfig: string;
let nextToken: string;
const servers: Partial<Record<(typeof KINDS)[number], ConnectivityServer>> = {};
let agents: Program[];

const tokenFile = (pod: string): string => join(directory, `token-${pod}`);

async function serve(kind: (typeof KINDS)[number], port?: number): Promise<void> {
  const store = kind === 'crd' ? [] : ['-kubeproxyinit=false', `-etcd-endpoints=${etcd.url}`];
  servers[kind] = await startServer(
    kubeconfig,
    ['-report-ttl=60', `-reportinterval=${INTERVAL_MS / 1_000}`, ...store],
    port,
  );
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'traffic-outage-'));
  etcd = await startEtcd();
  kubeconfig = await limitedUser(scene.plane, scene.connected.client, 'connectivity-server');
  for (const pod of Object.keys(NODES)) writeFileSync(tokenFile(pod), await tokenOf(scene.connected, pod, AUDIENCE));
  nextToken = await tokenOf(scene.connected, 'b', AUDIENCE);
  await Promise.all(KINDS.map((kind) => serve(kind)));
  const places = KINDS.flatMap((kind) => Object.entries(NODES).map(([pod, node]) => ({ kind, pod, node })));
  agents = await Promise.all(
    places.map(({ kind, pod, node }) =>
      startAgent(pod, node, servers[kind]!.port, [
        `-reportinterval=${INTERVAL_MS / 1_000}`,
        `--token-file=${tokenFile(pod)}`,
      ]),
    ),
  );
});
afterAll(async () => {
  await Promise.all([...agents, ...Object.values(servers)].map((program) => program.kill()));
  await etcd.stop();
  rmSync(directory, { recursive: true });
});

/** What a user sees of a server. */
interface Look {
  readonly status: number;
  readonly text: string;
  /** Reports by node. */
  readonly counts: readonly number[];
  readonly errors: number;
}

async function look(kind: (typeof KINDS)[number]): Promise<Look> {
  const server = servers[kind]!;
  const { status, text } = await server.ask(CHECK);
  const all = (metric: string): Promise<number[]> =>
    Promise.all(
      Object.values(NODES).map(
        async (node) => (await server.series(`ncagent_${metric}_total{agent="${node}-private_network"}`)) ?? 0,
      ),
    );
  return { status, text, counts: await all('report_count'), errors: Math.max(...(await all('error_count'))) };
}

const looks = (): Promise<Look[]> => Promise.all(KINDS.map(look));

/** Looks every second, until `done`. No agent is absent or outdated, and no counter falls. */
async function watchUntil(done: () => boolean | Promise<boolean>): Promise<void> {
  let before = await looks();
  while (!(await done())) {
    await sleep(1_000);
    const now = await looks();
    now.forEach(({ status, text, counts, errors }, n) => {
      expect([KINDS[n], status, text, errors]).toEqual([KINDS[n], 200, expect.stringContaining('All 2 pods'), 0]);
      counts.forEach((count, node) => expect(count).toBeGreaterThanOrEqual(before[n]!.counts[node]!));
    });
    before = now;
  }
}

/** The counters in each store, by node. */
async function storedCounts(): Promise<number[][]> {
  const objects = await scene.connected.client.list(AGENTS, { namespace: 'default' });
  const values = await etcd.values('netchecker/agents/');
  const counts = (found: readonly (readonly [pod: string | undefined, count: number | undefined])[]): number[] =>
    Object.keys(NODES).map((pod) => found.find(([each]) => each === pod)?.[1] ?? 0);
  return [
    counts(objects.map(({ metadata, status }) => [metadata?.name, status?.reportCount])),
    counts(
      values.map(({ key, value }) => [
        key.split('/').at(-1),
        (JSON.parse(value) as { report_count: number }).report_count,
      ]),
    ),
  ];
}

describe(`stores that are away for ${seconds(OUTAGE_MS)}`, () => {
  const timeout = OUTAGE_MS + 300_000;

  it('make no agent absent and no counter fall, with a token that was replaced meanwhile', { timeout }, async () => {
    await vi.waitFor(async () => expect((await looks()).map(({ status }) => status)).toEqual([200, 200]));
    const before = await looks();
    await Promise.all([scene.plane.stopApiServer(), etcd.halt()]);
    const from = performance.now();
    await watchUntil(() => {
      // The kubelet of n2 wrote it right before.
      if (performance.now() - from > OUTAGE_MS / 3) writeFileSync(tokenFile('b'), nextToken);
      return performance.now() - from > OUTAGE_MS;
    });
    const after = await looks();
    const least = Math.min(
      ...after.flatMap(({ counts }, n) => counts.map((count, node) => count - before[n]!.counts[node]!)),
    );
    // Each report is an interval after the one before, and two may be missing at the ends.
    expect(least).toBeGreaterThan((0.8 * OUTAGE_MS) / INTERVAL_MS - 2);
    measured(`reports of an agent during ${seconds(OUTAGE_MS)} without API server and etcd: at least ${least}`);
  });

  it('have all counters soon after they are back', async () => {
    const known = (await looks()).map(({ counts }) => counts);
    await Promise.all([scene.plane.startApiServer(), etcd.startAgain()]);
    const isWritten = async (): Promise<boolean> =>
      (await storedCounts()).every((counts, n) => counts.every((count, node) => count >= known[n]![node]!));
    const from = performance.now();
    await watchUntil(isWritten);
    measured(`all counters were stored ${seconds(performance.now() - from)} after API server and etcd were back`);
  });

  it('give a restarted server counters that do not fall, and no agent is absent', async () => {
    const known = await looks();
    const answers: number[] = [];
    for (const kind of KINDS) {
      const { port } = servers[kind]!;
      await servers[kind]!.kill();
      await serve(kind, port);
      await until(`the server with ${kind} has its agents`, async () => {
        answers.push((await look(kind)).status);
        return answers.at(-1) === 200;
      });
    }
    expect(answers).not.toContain(400);
    (await looks()).forEach(({ counts }, n) =>
      counts.forEach((count, node) => expect(count).toBeGreaterThanOrEqual(known[n]!.counts[node]!)),
    );
  });
});
