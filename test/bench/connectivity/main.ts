/**
 * Measures the connectivity server: the real process with a real API server, against agents that are real HTTP clients on
 * loopback. Without faults: every peer answers.
 *
 *   node test/bench/connectivity/main.ts --out docs/performance/connectivity.json
 *
 * Ends with status 1 if a figure misses its goal, after all were measured and written. Environment: REPETITIONS (3), SCALES
 * (1000@15,10000@60: agents and the interval of their reports in seconds).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { startControlPlane } from '../../harness/controlPlane.ts';
import { AGENTS } from '../../../src/api/agent/report.ts';
import { CONNECTIVITY_CHECKS } from '../../../src/api/connectivitycheck/connectivityCheck.ts';
import { agentCrd, connectivityCheckCrd, installCrd } from '../../harness/customResource.ts';
import { connect } from '../../harness/runtimeScene.ts';
import { resultOf, type Figure, type Result } from '../figure.ts';
import { failIfMissed } from '../goals.ts';
import { machine } from '../machine.ts';
import { renderTable } from '../table.ts';
import { bareServerBytes } from './bareServer.ts';
import { agentsOf, createCluster } from './cluster.ts';
import { flatCost } from './flatCost.ts';
import { Fleet } from './fleet.ts';
import { measureScale, type Scale } from './scale.ts';
import { startServer } from './serverProcess.ts';

const LEAST_WINDOW_SECONDS = 30;

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const repetitions = Number(process.env.REPETITIONS ?? '3');
const scales = (process.env.SCALES ?? '1000@15,10000@60').split(',').map(scaleOf);
// Reads the commit before anything is written, which would change the checkout.
const run = { command: 'make bench-connectivity', ...machine(), repetitions };
const results: Result[] = [];

function scaleOf(text: string): Scale {
  const [agents, intervalSeconds] = text.split('@').map(Number);
  if (!(agents! > 0 && intervalSeconds! > 0)) throw new Error(`SCALES: ${text}: must be such as 1000@15`);
  return { agents: agents!, intervalSeconds: intervalSeconds! };
}

/** Each scale has a cluster of its own, so that nothing of the one before is in the caches. */
async function measure(scale: Scale): Promise<Figure[]> {
  const nodes = Math.ceil(scale.agents / 2);
  const bareBytes = await bareServerBytes(scale.agents);
  const plane = await startControlPlane({ apiServerFlags: ['--etcd-compaction-interval=1m'] });
  const { client, transport } = connect(plane);
  try {
    await installCrd(client, agentCrd(), AGENTS);
    await installCrd(client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
    await createCluster(client, nodes, `${scale.intervalSeconds}s`);
    const server = await startServer(plane.kubeconfig, ['-allow-anonymous']);
    const agents = agentsOf(nodes);
    const fleet = new Fleet({ port: server.port, agents, intervalSeconds: scale.intervalSeconds });
    fleet.start();
    try {
      const windowSeconds = Math.max(LEAST_WINDOW_SECONDS, scale.intervalSeconds);
      return await measureScale(scale, { server, fleet, repetitions, windowSeconds, bareBytes });
    } finally {
      await fleet.stop();
      await server.stop();
    }
  } finally {
    await transport.close();
    await plane.stop();
  }
}

for (const scale of scales) {
  const added = (await measure(scale)).map(resultOf);
  results.push(...added);
  console.log(`\n${renderTable(added)}`);
}
// Not in the file: scripts/generate/performance.ts computes it from the others.
const compared = flatCost(results);
if (compared.length > 0) console.log(`\n${renderTable(compared)}`);
if (values.out !== undefined) {
  mkdirSync(dirname(values.out), { recursive: true });
  writeFileSync(values.out, `${JSON.stringify({ ...run, results }, null, 2)}\n`);
}
failIfMissed([...results, ...compared], run);
