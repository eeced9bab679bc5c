import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { uidOf } from '../../../dashboards/dashboard.ts';
import { panelQueries, type PanelQuery } from '../../../dashboards/queries.ts';
import { AGENTS } from '../../../src/api/agent/report.ts';
import { CONNECTIVITY_CHECKS } from '../../../src/api/connectivitycheck/connectivityCheck.ts';
import { AGENT_NAME, HOST_AGENT_NAME } from '../../../src/connectivity/objects/names.ts';
import { allAlerts } from '../../../src/controllers/measurement/components/rules/alerts.ts';
import { NODES } from '../../../src/runtime/client/resources.ts';
import { agentCrd, installCrd } from '../../harness/customResource.ts';
import { startFixture, type Fixture } from '../../harness/fixture.ts';
import { withNodeOptions } from '../../harness/nodeOptions.ts';
import { installConnectivityCheckCrd } from '../connectivityCheckServer.ts';
import { alertsHolding, numbersOf, startObserver, valuesByLabels, type Observer } from '../observer.ts';
import { createAgentPod, startAgent, startServer, type ConnectivityAgent, type ConnectivityServer } from './world.ts';

/**
 * Every query of the dashboard Connectivity, and every alert about it, sent to a real Prometheus that scrapes a real operator
 * and a real connectivity server. Real agents on two nodes and two planes probe each other and report.
 */
const NAMES = ['n1', 'n2'];
const LOOPBACK = '127.0.0.1';
/** A URL that every agent requests, and nobody answers. */
const NOBODY = `http://${LOOPBACK}:1/`;
const WAIT = { timeout: 150_000, interval: 1_000 };
/** Two minutes ahead: nodes that were created less than 70 s ago are left out. */
const LATER = new URL('../../harness/shiftClock.ts?seconds=120', import.meta.url).href;
const VARIABLES = {
  job: 'traffic-operator',
  namespace: '',
  trafficwatch: '',
  stack: '',
  node: '',
  __rate_interval: '15s',
  __interval: '5s',
  __range: '10m',
};
const QUERIES = panelQueries(VARIABLES).filter(({ where }) => where.startsWith(`${uidOf('connectivity')} /`));
const ALERTS = allAlerts().filter(({ alert }) => /^(NetChecker|Connectivity)/.test(alert));

let f: Fixture;
let server: ConnectivityServer;
let observer: Observer;
const agents = new Map<string, ConnectivityAgent>();

beforeAll(async () => {
  f = await startFixture({ nodes: NAMES });
  await installCrd(f.client, agentCrd(), AGENTS);
  await installConnectivityCheckCrd(f.client);
  for (const node of NAMES) await makeReady(node);
  // What this machine has of a cluster's DNS and API server is no matter of this test.
  const spec = { interval: '5s', probes: { dns: false, apiServer: false, mtu: false, urls: [NOBODY] } };
  await f.client.create(CONNECTIVITY_CHECKS, { metadata: { name: 'all' }, spec });
  const start = () => startServer(f.controlPlane.kubeconfig, ['-allow-anonymous']);
  server = await withNodeOptions(`--import=${LATER}`, start);
  await f.startOperator([`--connectivity-server-url=http://${LOOPBACK}:${server.port}`]);
  const operator = new URL(f.operator().metricsUrl).host;
  for (const app of [AGENT_NAME, HOST_AGENT_NAME]) for (const node of NAMES) await deployAgent(app, node);
  const { peerPort } = agents.get(`${AGENT_NAME}-n1`)!;
  const check = { server: `${LOOPBACK}:${server.port}`, agent: `${LOOPBACK}:${peerPort}` };
  observer = await startObserver(operator, f.exporter.target, check);
});
afterAll(async () => {
  await observer.stop();
  await Promise.all([...agents.values()].map((agent) => agent.kill()));
  await server.kill().catch(() => undefined);
  await f.stop();
});

async function makeReady(name: string): Promise<void> {
  const lastTransitionTime = new Date(Date.now() - 3_600_000).toISOString();
  const condition = { type: 'Ready', status: 'True', reason: 'Test', message: '', lastTransitionTime };
  const status = { status: { conditions: [condition] } };
  await f.client.mergePatch(NODES, { name }, status, { fieldManager: 'test', subresource: 'status' });
}

/** All pods have one address, and a port each. */
async function deployAgent(app: string, node: string): Promise<void> {
  const pod = `${app}-${node}`;
  await createAgentPod(f.client, pod, { node, app, ip: LOOPBACK });
  agents.set(pod, await startAgent(pod, node, server.port, [`--allow-target-cidr=${LOOPBACK}/32`]));
}

/** The places of those queries that find no number. */
async function withoutNumbers(queries: readonly PanelQuery[]): Promise<string[]> {
  const missing: string[] = [];
  for (const { where, expr, instant } of queries) {
    if (numbersOf(await observer.answerTo(expr, instant)).length === 0) missing.push(where);
  }
  return missing;
}

/** The newest values of a panel's query, by the values of their labels. */
async function shown(where: string): Promise<Record<string, number>> {
  const { expr } = QUERIES.find((each) => each.where.endsWith(` / ${where}`))!;
  return valuesByLabels(await observer.answerTo(expr, true));
}

const holding = () => alertsHolding(observer, ALERTS);

describe('while all agents report', () => {
  it('every query of the dashboard finds numbers', async () => {
    expect(QUERIES.length).toBeGreaterThan(25);
    await vi.waitFor(async () => expect(await withoutNumbers(QUERIES)).toEqual([]), WAIT);
  });

  it('the panels show four agents, all pairs and no loss', async () => {
    await vi.waitFor(async () => {
      expect(await shown('Reporting agents / A')).toEqual({ '': 4 });
      expect(await shown('Silent agents / A')).toEqual({ '': 0 });
      expect(await shown('Failing agents by URL / A')).toEqual({ [NOBODY]: 4 });
      expect(await shown('Checks not healthy / A')).toEqual({ '': 0 });
      expect(await shown('Pairs of nodes / A')).toEqual({ Pod: 2, Host: 2 });
      expect(await shown('Pairs of nodes / B')).toEqual({ Pod: 0, Host: 0 });
      expect(await shown('Pod network: loss by node / A')).toEqual({ n1: 0, n2: 0 });
      expect(Object.keys(await shown('Host network: loss by node / A')).sort()).toEqual(NAMES);
      expect(Object.keys(await shown('Slowest nodes / A')).sort()).toEqual(['n1 Host', 'n1 Pod', 'n2 Host', 'n2 Pod']);
    }, WAIT);
  });

  it('no alert holds, though each has series to look at', async () => {
    await vi.waitFor(async () => expect(await holding()).toEqual({}), WAIT);
    for (const { alert, expr } of ALERTS) {
      // Without the threshold, and what follows it.
      const [figures = ''] = expr.split(/(?<=\))\s*> [\d/ ]+/);
      // A scrape that took more than a second leaves none until the next one.
      await vi.waitFor(async () => {
        const series = await observer.answerTo(figures.replace('label_replace(', ''), true);
        expect(series.length, alert).toBeGreaterThan(0);
      }, WAIT);
    }
  });
});

describe('when an agent has stopped', () => {
  it('the panels and the alerts say so', async () => {
    await agents.get(`${AGENT_NAME}-n2`)!.kill();
    agents.delete(`${AGENT_NAME}-n2`);
    await vi.waitFor(async () => {
      expect(await shown('Silent agents / A')).toEqual({ '': 1 });
      expect(await shown('Checks not healthy / A')).toEqual({ '': 1 });
      expect(await holding()).toEqual({
        NetCheckerAgentErrors: [{ agent: 'n2-private_network', node: 'n2' }],
        NetCheckerReportsMissing: [{ plane: 'Pod' }],
        ConnectivityAgentFault: [{ check: 'all', class: 'Agent' }],
      });
    }, WAIT);
  });
});

describe('when the server has stopped', () => {
  it('an alert holds that no report is there, and one about the server', async () => {
    await server.kill();
    await vi.waitFor(async () => {
      const now = await holding();
      expect(now.NetCheckerReportsMissing).toEqual([{}]);
      expect(now.ConnectivityServerFault).toEqual([{ check: 'all', class: 'Server' }]);
      expect(await shown('Server / A')).toEqual({ '': 0 });
    }, WAIT);
  });
});
