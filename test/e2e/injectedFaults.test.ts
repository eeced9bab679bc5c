import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest';
import { measured, seconds, sleep, until } from '../harness/measured.ts';
import { SLACK } from '../harness/slack.ts';
import { inNode, shape } from '../lab/lab.ts';
import {
  AGENTS_NAMESPACE,
  check,
  CHECK,
  connectivityReport,
  dnsPod,
  findings,
  isHealthy,
} from '../scenario/connectivity.ts';
import { helmInstall } from '../scenario/install.ts';
import { getObject, kubectl } from '../scenario/kubectl.ts';
import { addFault, addressesOf, removeFaults, type Addresses } from '../scenario/networkFaults.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';

/**
 * Faults of one node by tools that know nothing of the check and of its simulations: tc, ip and nft. Each test prints the verdict and
 * the findings. The clock of one node cannot be changed: all nodes of the lab have the clock of the machine.
 */
const INTERVAL = 5_000;
/** Two intervals and 5 s to find a fault, and two intervals until all agents have measured it. */
const SETTLED = 4 * INTERVAL + 5_000;
/** A finding that comes and goes ends after ten minutes without it. */
const CLEARED = 600_000 + SETTLED;
const EVERY = 500;
const DEVICE = 'eth0';
const MTU = '1500';
const TAINT = 'faults=elsewhere:PreferNoSchedule';

interface Injection {
  readonly what: string;
  /** The class of the finding of the node. Absent: the test records what is found. None: nothing may be found. */
  readonly wanted?: string;
  readonly begin: (node: string, addresses: Addresses) => Promise<unknown>;
  readonly end: (node: string) => Promise<unknown>;
}

/** Adds what tc-netem(8) does to the packets that a node sends. */
function netem(wanted: string | undefined, ...args: string[]): Injection {
  return {
    what: `netem ${args.join(' ')}`,
    ...(wanted !== undefined && { wanted }),
    begin: (node) => inNode(node, ['tc', 'qdisc', 'replace', 'dev', DEVICE, 'root', 'netem', ...args]),
    end: (node) => shape(node, 'off'),
  };
}

/** Adds a statement of nft to what the pods of a node and pods of other nodes send each other. */
function nft(what: string, statement: string): Injection {
  return {
    what,
    wanted: 'PodNetwork',
    begin: (node, { pods }) =>
      addFault(node, {
        forward: [`oifname ${DEVICE} ip saddr ${pods} ${statement}`, `iifname ${DEVICE} ip daddr ${pods} ${statement}`],
      }),
    end: removeFaults,
  };
}

const mtu = (node: string, bytes: string): Promise<string> => inNode(node, ['ip', 'link', 'set', DEVICE, 'mtu', bytes]);

const INJECTIONS: readonly Injection[] = [
  netem(undefined, 'delay', '200ms'),
  netem('Node', 'loss', '30%'),
  netem('Node', 'corrupt', '30%'),
  netem('None', 'delay', '20ms', 'reorder', '50%'),
  { what: '500 kbit/s', begin: (node) => shape(node, '500kbit'), end: (node) => shape(node, 'off') },
  nft('packets are rejected', 'reject with icmpx admin-prohibited'),
  nft('new flows are dropped, as if the table of conntrack were full', 'ct state new drop'),
  {
    what: 'the interface has an MTU of 1,400 bytes',
    wanted: 'MTU',
    begin: (node) => mtu(node, '1400'),
    end: (node) => mtu(node, MTU),
  },
];

/** The node of the faults, and the third node. The first node has the DNS, and after the installation also operator and server. */
let faulty: { node: string; other: string; addresses: Addresses } | undefined;

beforeAll(async () => {
  await enterLab();
  const central = (await dnsPod()).spec!.nodeName!;
  const [node, other] = NODES.filter((name) => name !== central) as [string, string];
  faulty = { node, other, addresses: await addressesOf(node) };
  await kubectl('taint', 'node', node, other, TAINT);
  await helmInstall({ 'connectivity.enabled': 'true', replicas: '1' });
  await untilHealthy(SLACK * 100_000);
  await kubectl('taint', 'node', node, other, `${TAINT}-`);
  const patch = JSON.stringify({ spec: { interval: `${INTERVAL / 1_000}s` } });
  await kubectl('patch', 'connectivitycheck', CHECK, '--type=merge', '--patch', patch);
  await untilHealthy(SLACK * 100_000);
}, 900_000);

afterAll(async () => {
  if (faulty !== undefined) {
    const { node, other } = faulty;
    // Of a test that failed. leaveLab() ends what tc does.
    await removeFaults(node).catch(() => undefined);
    await mtu(node, MTU).catch(() => undefined);
    await kubectl('taint', 'node', node, other, `${TAINT}-`).catch(() => undefined);
  }
  await leaveLab();
});

/** Returns the names of both agents of a node. */
async function agentsOf(node: string): Promise<string[]> {
  const { items } = await getObject<{ items: V1Pod[] }>('pods', '-n', AGENTS_NAMESPACE);
  return items.filter(({ spec }) => spec?.nodeName === node).map(({ metadata }) => metadata!.name!);
}

function untilHealthy(timeout: number): Promise<number> {
  return until('it is Healthy', async () => isHealthy(await check()), { timeout, every: EVERY });
}

it.for(INJECTIONS)('of one node: $what', { timeout: SLACK * (CLEARED + 2 * SETTLED) }, async (injection, { skip }) => {
  onTestFailed(connectivityReport);
  const { node, addresses } = faulty!;
  const { what, wanted, begin, end } = injection;
  const names = [node, ...(await agentsOf(node))];
  try {
    await begin(node, addresses).catch((error: unknown) => {
      if (String(error).includes('qdisc kind is unknown')) skip('the kernel has no sch_netem');
      throw error;
    });
    await sleep(SETTLED);
    if (wanted !== undefined && wanted !== 'None') {
      await until(`there is ${wanted} ${node}`, async () => (await findings()).includes(`${wanted} ${node}`), {
        ...{ timeout: SLACK * SETTLED, every: EVERY },
      });
    }
    const [found, { status }] = [await findings(), await check()];
    measured(`${what}: ${status?.verdict}, ${found.join(', ') || 'no finding'}`);
    // Also a link of the node, where some pairs work by chance.
    const others = found.filter((one) => !names.some((name) => one.includes(name)));
    expect(wanted === 'None' ? found : others).toEqual([]);
  } finally {
    await end(node);
  }
  measured(`${what}: Healthy ${seconds(await untilHealthy(SLACK * CLEARED))} after the end`);
});
