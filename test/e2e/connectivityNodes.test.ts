import { afterAll, beforeAll, expect, it, onTestFailed, vi } from 'vitest';
import { measured, seconds, until } from '../harness/measured.ts';
import { SLACK } from '../harness/slack.ts';
import { addNode, removeNode } from '../lab/lab.ts';
import {
  AGENTS_NAMESPACE,
  check,
  CHECK,
  connectivityReport,
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

/** Nodes that join, are drained and go, which are no outages, and four nodes in two zones that are cut off from each other. */
const INTERVAL = 5_000;
const PROMISED = 2 * INTERVAL + 5_000;
const ZONE = 'topology.kubernetes.io/zone';
const EVERY = 500;
/** A node is judged 60 s and two intervals after it joined. */
const JUDGED_AFTER = 60_000 + 2 * INTERVAL;
let zoneA: readonly string[];
let zoneB: readonly string[];
let added: string;

beforeAll(async () => {
  await enterLab();
  await helmInstall({ 'connectivity.enabled': 'true', replicas: '1' });
  const patch = JSON.stringify({ spec: { interval: `${INTERVAL / 1_000}s` } });
  await kubectl('patch', 'connectivitycheck', CHECK, '--type=merge', '--patch', patch);
}, 900_000);
afterAll(async () => {
  await Promise.all(NODES.map((node) => removeFaults(node).catch(() => undefined)));
  await kubectl('label', 'nodes', '--all', `${ZONE}-`).catch(() => undefined);
  await leaveLab();
});

/** Awaits that so many nodes are judged. Nothing was found meanwhile. */
async function judges(nodes: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const now = await check();
      expect(isHealthy(now)).toBe(true);
      expect(now.status).toMatchObject({ nodes, excludedNodes: 0, reportingAgents: 2 * nodes });
    },
    { timeout: SLACK * (JUDGED_AFTER + PROMISED), interval: EVERY },
  );
  expect(await outages()).toEqual([]);
}

const restartAgentsOf = (node: string): Promise<string> =>
  kubectl('delete', 'pods', '-n', AGENTS_NAMESPACE, `--field-selector=spec.nodeName=${node}`);

it('a node that joins is no outage', async () => {
  onTestFailed(connectivityReport);
  await judges(NODES.length);
  added = await addNode();
  await judges(NODES.length + 1);
});

it('a node that is drained, restarted and used again is no outage', async () => {
  onTestFailed(connectivityReport);
  await kubectl('drain', added, '--ignore-daemonsets', '--delete-emptydir-data');
  await restartAgentsOf(added);
  await vi.waitFor(async () => expect((await check()).status).toMatchObject({ excludedNodes: 1 }), {
    ...{ timeout: SLACK * PROMISED, interval: EVERY },
  });
  await kubectl('uncordon', added);
  await judges(NODES.length + 1);
});

it('two zones that are cut off from each other are named, and nothing else', async () => {
  onTestFailed(connectivityReport);
  // With the server, as most of the time in a cluster: its zone goes on reporting.
  const dnsNode = (await dnsPod()).spec!.nodeName!;
  const [second, ...rest] = NODES.filter((name) => name !== dnsNode) as [string, ...string[]];
  [zoneA, zoneB] = [[dnsNode, second].sort(), [...rest, added]];
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

it('a node that is drained and removed is no outage', async () => {
  onTestFailed(connectivityReport);
  const before = await outages();
  await kubectl('drain', added, '--ignore-daemonsets', '--delete-emptydir-data');
  await vi.waitFor(async () => expect((await check()).status).toMatchObject({ excludedNodes: 1 }), {
    ...{ timeout: SLACK * PROMISED, interval: EVERY },
  });
  await removeNode(added);
  await vi.waitFor(
    async () => {
      const now = await check();
      expect(isHealthy(now)).toBe(true);
      expect(now.status).toMatchObject({ nodes: NODES.length, excludedNodes: 0 });
    },
    { timeout: SLACK * PROMISED, interval: EVERY },
  );
  expect(await outages()).toEqual(before);
});
