/**
 * Measures the connectivity agent: real processes of the bundle, with the environment of the DaemonSet, that report to a real
 * server with a real API server. There is one more agent than peers, all on loopback: each probes all others, and is probed
 * by them. Every agent is measured. Also scrapes them as Prometheus does.
 *
 *   node test/bench/connectivity/agentMain.ts --out docs/performance/connectivity-agent.json
 *
 * Ends with status 1 if the median of all agents and windows misses a goal. Environment: REPETITIONS (5), WINDOW_SECONDS (60),
 * PEERS (10), INTERVAL (30, seconds).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { AGENTS } from '../../../src/api/agent/report.ts';
import { CONNECTIVITY_CHECKS } from '../../../src/api/connectivitycheck/connectivityCheck.ts';
import { AGENT_NAME } from '../../../src/connectivity/objects/names.ts';
import { EVALUATIONS_PATH, type Evaluations } from '../../../src/connectivity/protocol/evaluation.ts';
import { NODES } from '../../../src/runtime/client/resources.ts';
import { startControlPlane, type ControlPlane } from '../../harness/controlPlane.ts';
import { agentCrd, connectivityCheckCrd, installCrd } from '../../harness/customResource.ts';
import { sleep, until } from '../../harness/measured.ts';
import { anonymousBytes, cpuSeconds, peakResidentBytes, residentBytes } from '../../harness/processUse.ts';
import { connect } from '../../harness/runtimeScene.ts';
import { resultOf, type Figure } from '../figure.ts';
import { failIfMissed } from '../goals.ts';
import { machine } from '../machine.ts';
import { nodeObject } from '../nodeObjects.ts';
import { nodeName } from '../shape.ts';
import { renderTable } from '../table.ts';
import { startAgent } from './agentProcess.ts';
import { createPod } from './cluster.ts';
import type { SimulatedAgent } from './reportBody.ts';
import { startServer, type MeasuredProcess } from './serverProcess.ts';

const MIB = 1024 ** 2;
/** The goals: % of a core, MiB. */
const GOALS = { cpu: 0.3, memory: 60 };
/** As in the deployed Prometheus. */
const SCRAPE_MS = 30_000;
/** Reports before the first window: those after a start come sooner than the interval. */
const SETTLED_INTERVALS = 4;

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const { REPETITIONS = '5', WINDOW_SECONDS = '60', PEERS = '10', INTERVAL = '30' } = process.env;
const repetitions = Number(REPETITIONS);
const windowSeconds = Number(WINDOW_SECONDS);
const peers = Number(PEERS);
const intervalSeconds = Number(INTERVAL);
// Reads the commit before anything is written, which would change the checkout.
const run = { command: 'make bench-connectivity', ...machine(), repetitions, agents: peers + 1, windowSeconds };

const fleet: readonly SimulatedAgent[] = Array.from({ length: peers + 1 }, (_, index) => ({
  ...{ pod: `${AGENT_NAME}-${index}`, node: nodeName(index), plane: 'Pod', address: '127.0.0.1' },
}));

async function measure(): Promise<Figure[]> {
  const plane = await startControlPlane();
  const started: MeasuredProcess[] = [];
  try {
    await createCluster(plane);
    const server = await startServer(plane.kubeconfig, ['-allow-anonymous']);
    started.push(server);
    const o = { serverPort: server.port, intervalSeconds, plane };
    const agents: MeasuredProcess[] = [];
    for (const agent of fleet) agents.push(await startAgent(agent, o));
    started.push(...agents);
    await settled(server);
    return await measureAgents(agents);
  } finally {
    for (const each of started) await each.stop();
    await plane.stop();
  }
}

async function createCluster(plane: ControlPlane): Promise<void> {
  const { client, transport } = connect(plane);
  await installCrd(client, agentCrd(), AGENTS);
  await installCrd(client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
  for (const [index] of fleet.entries()) await client.create(NODES, nodeObject(index));
  for (const agent of fleet) await createPod(client, agent);
  const spec = { interval: `${intervalSeconds}s`, peers };
  await client.create(CONNECTIVITY_CHECKS, { metadata: { name: 'default' }, spec });
  await transport.close();
}

/** Waits until each agent has reported on all others. */
async function settled({ port }: MeasuredProcess): Promise<void> {
  await until(
    `all ${fleet.length} agents have measured their ${peers} peers`,
    async () => {
      const answer = await fetch(`http://127.0.0.1:${port}${EVALUATIONS_PATH}`);
      const { default: evaluation } = (await answer.json()) as Evaluations;
      // Nodes that joined within the last minute are left out.
      return evaluation?.counts.observedPairs === fleet.length * peers;
    },
    { timeout: 300_000, every: 1_000 },
  );
  await sleep(SETTLED_INTERVALS * intervalSeconds * 1_000);
}

async function measureAgents(agents: readonly MeasuredProcess[]): Promise<Figure[]> {
  const scraping = setInterval(() => void scrape(agents), SCRAPE_MS);
  const cpu: number[] = [];
  const memory: number[] = [];
  const own: number[] = [];
  for (let n = 0; n < repetitions; n += 1) {
    const begin = performance.now();
    const before = agents.map(({ pid }) => cpuSeconds(pid));
    await sleep(windowSeconds * 1_000);
    const seconds = (performance.now() - begin) / 1_000;
    cpu.push(...agents.map(({ pid }, index) => (100 * (cpuSeconds(pid) - before[index]!)) / seconds));
    memory.push(...agents.map(({ pid }) => residentBytes(pid) / MIB));
    own.push(...agents.map(({ pid }) => anonymousBytes(pid) / MIB));
  }
  clearInterval(scraping);
  const peak = agents.map(({ pid }) => peakResidentBytes(pid) / MIB);
  const who = `agent with ${peers} peers at ${intervalSeconds} s`;
  return [
    { id: 'agent.cpu', what: `${who}: CPU`, unit: '% of a core', samples: cpu, atMost: GOALS.cpu },
    { id: 'agent.memory', what: `${who}: resident memory`, unit: 'MiB', samples: memory, atMost: GOALS.memory },
    { id: 'agent.own', what: `${who}: of this its own, without the program file`, unit: 'MiB', samples: own },
    { id: 'agent.peak', what: `${who}: peak resident memory`, unit: 'MiB', samples: peak },
    {
      id: 'agent.scrape',
      what: `${who}: its page for Prometheus`,
      unit: 'ms',
      samples: await timesOfPage(agents),
    },
  ];
}

async function scrape(agents: readonly MeasuredProcess[]): Promise<void> {
  for (const { port } of agents) await (await fetch(`http://127.0.0.1:${port}/metrics`)).arrayBuffer();
}

async function timesOfPage(agents: readonly MeasuredProcess[]): Promise<number[]> {
  const times: number[] = [];
  for (const agent of agents) {
    const begin = performance.now();
    await scrape([agent]);
    times.push(performance.now() - begin);
  }
  return times;
}

const results = (await measure()).map(resultOf);
console.log(`\n${renderTable(results)}`);
if (values.out !== undefined) {
  mkdirSync(dirname(values.out), { recursive: true });
  writeFileSync(values.out, `${JSON.stringify({ ...run, results }, null, 2)}\n`);
}
failIfMissed(results, run);
