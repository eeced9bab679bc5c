import { afterAll, beforeAll, expect, it, onTestFailed, vi } from 'vitest';
import { measured, seconds, sleep, until } from '../harness/measured.ts';
import { SLACK } from '../harness/slack.ts';
import { addNode, removeNode } from '../lab/lab.ts';
import {
  agentOf,
  check,
  CHECK,
  connectivityReport,
  crash,
  dnsPod,
  findings,
  isHealthy,
  outages,
  showStatus,
} from '../scenario/connectivity.ts';
import { helmInstall } from '../scenario/install.ts';
import { kubectl } from '../scenario/kubectl.ts';
import { addFault, addressesOf, betweenGroups, removeFaults } from '../scenario/networkFaults.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';

/** Four nodes: one that is drained and goes, which is no outage, and two zones that are cut off from each other. */
const INTERVAL = 5_000;
const PROMISED = 2 * INTERVAL + 5_000;
const ZONE = 'topology.kubernetes.io/zone';
const EVERY = 500;
/** A node is judged 60 s and two intervals after it joined. */
const JUDGED_AFTER = 60_000 + 2 * INTERVAL;
/** Operator, server and DNS run on one node, so that they reach each other when its zone is cut off. */
const TAINT = 'zones=elsewhere:PreferNoSchedule';
let central: string;
let others: readonly string[];
let added: string;

const untaint = (): Promise<unknown> => kubectl('taint', 'nodes', ...others, `${TAINT}-`);

beforeAll(async () => {
  await enterLab();
  central = (await dnsPod()).spec!.nodeName!;
  added = await addNode();
  others = [...NODES, added].filter((name) => name !== central);
  await kubectl('taint', 'nodes', ...others, TAINT);
  await helmInstall({ 'connectivity.enabled': 'true', replicas: '1' });
  await until('operator and server run', async () => isHealthy(await check()), {
    ...{ timeout: SLACK * 60_000, every: EVERY },
  });
  await untaint();
  const patch = JSON.stringify({ spec: { interval: `${INTERVAL / 1_000}s` } });
  await kubectl('patch', 'connectivitycheck', CHECK, '--type=merge', '--patch', patch);
}, 900_000);
afterAll(async () => {
  await Promise.all(NODES.map((node) => removeFaults(node).catch(() => undefined)));
  // Of a story that failed: with a taint, the lab would count as unclean.
  await untaint().catch(() => undefined);
  await kubectl('label', 'nodes', '--all', `${ZONE}-`).catch(() => undefined);
  await leaveLab();
});

/** Awaits that all is healthy, and that nobody is new: in its first minute, the silence of a node or an agent is no finding. */
const judgesAll = (): Promise<void> =>
  vi.waitFor(
    async () => {
      expect(isHealthy(await check())).toBe(true);
      const pods = await Promise.all([...NODES, added].map(agentOf));
      const started = pods.map(({ status }) => new Date(status!.startTime!).getTime());
      expect(Date.now() - Math.max(...started)).toBeGreaterThan(JUDGED_AFTER);
    },
    { timeout: SLACK * (JUDGED_AFTER + PROMISED), interval: EVERY },
  );

/** Outages of the added node or of its agents that began since. On a busy machine, there may be some of other nodes. */
async function outagesSince(since: number, agents: readonly string[]): Promise<string[]> {
  const names = [added, ...agents];
  const found = (await outages()).filter(({ startedAt }) => startedAt >= since);
  return found.map(({ subject }) => subject).filter((subject) => names.some((name) => subject.includes(name)));
}

it('two zones that are cut off from each other are named, and nothing else', async () => {
  onTestFailed(connectivityReport);
  await judgesAll();
  const [second, ...zoneB] = others as [string, ...string[]];
  const zoneA = [central, second].sort();
  await kubectl('label', 'node', ...zoneA, `${ZONE}=zone-a`);
  await kubectl('label', 'node', ...zoneB, `${ZONE}=zone-b`);
  const [a, b] = await Promise.all([zoneA, zoneB].map((zone) => Promise.all(zone.map(addressesOf))));
  const wanted = 'Zone zone-a <-> zone-b';
  let since = performance.now();
  await Promise.all(zoneA.map((node) => addFault(node, betweenGroups(a!, b!))));
  const found = await until(`there is only ${wanted}`, async () => (await findings()).join() === wanted, {
    ...{ since, timeout: SLACK * PROMISED, every: EVERY },
  });
  await showStatus(wanted, INTERVAL);
  since = performance.now();
  await Promise.all(zoneA.map(removeFaults));
  const gone = await until(`${wanted} is gone`, async () => isHealthy(await check()), {
    ...{ since, timeout: SLACK * PROMISED, every: EVERY },
  });
  measured(`two zones are cut off: ${wanted} after ${seconds(found)}, Healthy ${seconds(gone)} after its end`);
});

it('a node that is drained, whose agents do not run, and that is removed, is no outage', async () => {
  onTestFailed(connectivityReport);
  await kubectl('drain', added, '--ignore-daemonsets', '--delete-emptydir-data');
  const since = Date.now();
  const agent = await agentOf(added);
  const end = crash(agent, 'connectivity-agent');
  await sleep(PROMISED + INTERVAL);
  await end();
  await removeNode(added);
  await sleep(PROMISED);
  expect(await outagesSince(since, [agent.metadata!.name!])).toEqual([]);
});
