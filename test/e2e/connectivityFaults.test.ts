import { afterAll, beforeAll, describe, expect, it, onTestFailed, onTestFinished, vi } from 'vitest';
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
  watchFindings,
  type SeenOutage,
} from '../scenario/connectivity.ts';
import {
  AGENT,
  API_SERVER,
  BOTH_NETWORKS,
  DNS,
  HOST_NETWORK,
  INTERFACE_MTU,
  KUBELET,
  LINK,
  LOSS,
  MTU,
  POD_NETWORK,
  SERVER,
  ZONE_LABEL,
  ZONES,
  type ConnectivityFault,
  type Scene,
} from '../scenario/connectivityFaults.ts';
import { helmInstall } from '../scenario/install.ts';
import { kubectl } from '../scenario/kubectl.ts';
import { addressesOf, removeFaults, setMtu } from '../scenario/networkFaults.ts';
import { timesStopped } from '../scenario/operatorPods.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';

/**
 * Real faults, and what the ConnectivityCheck says of them, on four nodes: `central` has operator, server and DNS, and the faults are of the
 * others, unless a fault is of one of the three. Faults of different nodes and networks begin at the same time: each is named, and nothing else.
 *
 * With SHOW_STATUS=1 the status is printed at each round of faults, for docs/connectivity.md.
 */
const INTERVAL = 5_000;
/** Two intervals and 5 s. */
const PROMISED = 2 * INTERVAL + 5_000;
const TAINT = 'faults=elsewhere:PreferNoSchedule';
const EVERY = 500;
/** Until each agent has reported again, at most two intervals. */
const MOMENT = 2 * INTERVAL;
/** In the first minute of an agent its silence is no finding, and a node is left out for that and two intervals. */
const JUDGED_AFTER = 60_000 + 2 * INTERVAL;

let scene: Scene | undefined;

const ignored = (change: Promise<void>): Promise<void> => change.catch(() => undefined);

const failureReport = (): void => onTestFailed(connectivityReport);

const taint = ({ node, other, added }: Scene, suffix: '' | '-'): Promise<string> =>
  kubectl('taint', 'node', node, other, added, `${TAINT}${suffix}`);

beforeAll(async () => {
  await enterLab();
  const central = (await dnsPod()).spec!.nodeName!;
  const added = await addNode();
  const [node, other] = NODES.filter((name) => name !== central) as [string, string];
  const addresses = await Promise.all([...NODES, added].map(async (name) => [name, await addressesOf(name)] as const));
  scene = { central, node, other, added, addresses: Object.fromEntries(addresses) };
  await taint(scene, '');
}, 900_000);
afterAll(async () => {
  // Of a story that failed: with a taint or a label, the lab would count as unclean.
  await Promise.all(NODES.flatMap((node) => [removeFaults(node), setMtu(node, 1_500)].map(ignored)));
  if (scene !== undefined) await taint(scene, '-').catch(() => undefined);
  await kubectl('label', 'nodes', '--all', `${ZONE_LABEL}-`).catch(() => undefined);
  await leaveLab();
});

describe('helm install with connectivity.enabled=true', () => {
  it('is Healthy within a minute', async () => {
    failureReport();
    const since = performance.now();
    await helmInstall({ 'connectivity.enabled': 'true', replicas: '1' });
    const took = await until('it is Healthy', async () => isHealthy(await check()), {
      ...{ since, timeout: SLACK * 60_000, every: EVERY },
    });
    measured(`Healthy ${seconds(took)} after helm install began`);
    await taint(scene!, '-');
  });

  it('measures all nodes at the interval that is asked for', async () => {
    failureReport();
    const patch = JSON.stringify({ spec: { interval: `${INTERVAL / 1_000}s` } });
    await kubectl('patch', 'connectivitycheck', CHECK, '--type=merge', '--patch', patch);
    await vi.waitFor(
      async () => {
        const now = await check();
        expect(isHealthy(now)).toBe(true);
        // The added node may be left out yet: it is in its first minute.
        const excluded = now.status?.excluded?.map(({ node }) => node) ?? [];
        expect(excluded.filter((node) => node !== scene!.added)).toEqual([]);
        expect(now.status).toMatchObject({ nodes: NODES.length + 1, reportingAgents: 2 * (NODES.length + 1) });
      },
      { timeout: SLACK * 100_000, interval: EVERY },
    );
  });
});

/**
 * Begins faults, awaits that they are named, ends them, and awaits Healthy. While no operator leads, as where the API server does not answer for
 * 10 s, the status is not written, and a finding of a moment stays in it: then it begins again. And once more if something else was named for
 * longer than a moment: agents of a busy machine lose packets, and rules of several nodes do not begin at the same time.
 */
async function expectFoundAndCleared(faults: readonly ConnectivityFault[], isRepeated = false): Promise<void> {
  const stopped = await timesStopped();
  const wanted = await Promise.all(faults.map(async (fault) => fault.wanted(scene!)));
  const all = [...wanted].sort().join();
  const before = await outages();
  const presences = watchFindings(EVERY);
  onTestFinished(async () => void (await presences.stop()));
  const ends: (() => Promise<void>)[] = [];
  let since = performance.now();
  const found: string[] = [];
  try {
    for (const { make } of faults) ends.push(await make(scene!));
    await Promise.all(
      wanted.map(async (one, n) => {
        const took = await until(`there is ${one}`, () => isFound(one), {
          ...{ since, timeout: SLACK * PROMISED, every: EVERY },
        });
        found.push(`${faults[n]!.what}: ${one} after ${seconds(took)}`);
      }),
    );
    // The reports of one interval are partly of the time before. When all agents have measured the faults, they are all.
    await until(`there is only ${all}`, async () => (await findings()).sort().join() === all, {
      ...{ timeout: SLACK * PROMISED, every: EVERY },
    });
    await showStatus(faults.map(({ what }) => what).join(', and '), INTERVAL);
  } finally {
    since = performance.now();
    for (const end of ends) await end();
  }
  const gone = await until(`${all} is gone`, async () => isHealthy(await check()), {
    ...{ since, timeout: SLACK * PROMISED, every: EVERY },
  });
  const others = (await outages()).filter(
    (one) => !before.some(({ id }) => id === one.id) && !wanted.includes(one.subject),
  );
  // Until all agents have measured that it is over: they must not take it and the next fault for one.
  await sleep(1.5 * INTERVAL);
  measured(`${found.join('; ')}; Healthy ${seconds(gone)} after the end${list(others)}`);
  // While a fault begins or ends, a larger or smaller one may be named for a moment: see the limits in docs/connectivity.md. One outage may have both moments.
  const longest = await presences.stop();
  const lasting = others.filter(({ subject }) => (longest.get(subject) ?? 0) > MOMENT);
  if (lasting.length > 0 && (await timesStopped()) > stopped) return expectFoundAndCleared(faults, isRepeated);
  if (lasting.length > 0 && !isRepeated) return expectFoundAndCleared(faults, true);
  expect(lasting).toEqual([]);
}

/** Whether there is a finding, as `Class subject`. Throws with the findings and with the nodes that are left out, for the message. */
async function isFound(wanted: string): Promise<true> {
  const [named, { status }] = [await findings(), await check()];
  if (named.includes(wanted)) return true;
  throw new Error(
    `findings [${named.join(', ')}], verdict ${status?.verdict}, ${JSON.stringify(status?.excluded)} left out`,
  );
}

function list(others: readonly SeenOutage[]): string {
  const named = others.map(({ id, ms }) => `${id} for ${seconds(ms)}`);
  return named.length === 0 ? '' : `; also named: ${named.join(', ')}`;
}

const ROUND = 'is found and cleared: %s';
const round = (...faults: ConnectivityFault[]): [string, ConnectivityFault[]] => [
  faults.map(({ what }) => what).join(', and '),
  faults,
];

describe('a fault that agents report', () => {
  it.each([round(DNS), round(API_SERVER, HOST_NETWORK)])(ROUND, async (_, faults) => {
    failureReport();
    await expectFoundAndCleared(faults);
  });
});

describe('when nobody is new', () => {
  it('all nodes are checked', async () => {
    failureReport();
    await vi.waitFor(
      async () => {
        const now = await check();
        expect(isHealthy(now)).toBe(true);
        expect(now.status).toMatchObject({ nodes: NODES.length + 1, excludedNodes: 0 });
        const pods = await Promise.all([...NODES, scene!.added].map(agentOf));
        const started = pods.map(({ status }) => new Date(status!.startTime!).getTime());
        expect(Date.now() - Math.max(...started)).toBeGreaterThan(JUDGED_AFTER);
      },
      { timeout: SLACK * (JUDGED_AFTER + PROMISED), interval: EVERY },
    );
  });

  it.each([
    round(MTU, LOSS),
    round(INTERFACE_MTU),
    round(POD_NETWORK, AGENT),
    round(BOTH_NETWORKS, LINK),
    round(ZONES),
    round(SERVER),
  ])(ROUND, async (_, faults) => {
    failureReport();
    await expectFoundAndCleared(faults);
  });
});

/** Outages of the added node or of its agents that began since. On a busy machine, there may be some of other nodes. */
async function outagesOfAdded(since: number, agent: string): Promise<string[]> {
  const found = (await outages()).filter(({ startedAt }) => startedAt >= since);
  return found.map(({ subject }) => subject).filter((one) => one.includes(scene!.added) || one.includes(agent));
}

/**
 * Drains the added node, and awaits that a server that ran there runs elsewhere and that a report of it leaves the node out. Otherwise the
 * new pod may be of the node whose kubelet stops next, and never start.
 */
async function drainAdded(added: string): Promise<void> {
  await kubectl('drain', added, '--ignore-daemonsets', '--delete-emptydir-data');
  await kubectl('wait', '--for=condition=Available', 'deployment', '--all', '-A', `--timeout=${SLACK * 30}s`);
  await until(
    `${added} is left out`,
    async () => {
      const now = await check();
      return isHealthy(now) && now.status?.excluded?.some(({ node }) => node === added) === true;
    },
    { timeout: SLACK * PROMISED, every: EVERY },
  );
}

// Last: the added node leaves.
it('a node that is drained, whose agents do not run, and that is removed, is no outage; a kubelet that does not answer meanwhile is', async () => {
  failureReport();
  const { added } = scene!;
  await drainAdded(added);
  const [since, begin] = [Date.now(), performance.now()];
  const agent = await agentOf(added);
  const end = crash(agent, 'connectivity-agent');
  await expectFoundAndCleared([KUBELET]);
  await sleep(Math.max(0, PROMISED + INTERVAL - (performance.now() - begin)));
  await end();
  await removeNode(added);
  await sleep(PROMISED);
  expect(await outagesOfAdded(since, agent.metadata!.name!)).toEqual([]);
});
