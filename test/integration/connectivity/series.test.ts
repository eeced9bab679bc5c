import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { V1EndpointSlice } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AGENTS } from '../../../src/api/agent/report.ts';
import { CONNECTIVITY_CHECKS } from '../../../src/api/connectivitycheck/connectivityCheck.ts';
import { PLANES, type Plane } from '../../../src/api/connectivitycheck/terms.ts';
import { AGENT_NAME, HOST_AGENT_NAME, SERVICE_NAME } from '../../../src/connectivity/objects/names.ts';
import { configFiles } from '../../../src/controllers/measurement/components/prometheus.ts';
import { TARGETS_DIRECTORY } from '../../../src/controllers/measurement/components/prometheusConfig.ts';
import { agentTargetsOf, renderGroups } from '../../../src/controllers/measurement/model/discovery.ts';
import { AGENT_TARGETS, targetsFile } from '../../../src/controllers/measurement/names.ts';
import { defaultMeasurementOptions } from '../../../src/controllers/measurement/options.ts';
import type { Client } from '../../../src/runtime/client/client.ts';
import { NODES } from '../../../src/runtime/client/resources.ts';
import { agentCrd, connectivityCheckCrd, installCrd } from '../../harness/customResource.ts';
import { withNodeOptions } from '../../harness/nodeOptions.ts';
import { startPrometheus, type RunningPrometheus } from '../../harness/prometheus.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { createAgentPod, startAgent, startServer, type ConnectivityAgent, type ConnectivityServer } from './world.ts';

/**
 * A real Prometheus with the configuration that the operator deploys scrapes a real server and the two real agents of
 * each of two nodes. Each agent requests more URLs than have series.
 */
const WAIT = { timeout: 120_000, interval: 500 };
const NAMES = ['n1', 'n2'];
const OPTIONS = { ...defaultMeasurementOptions('default'), connectivity: true, operatorMetrics: false };
/** The limit of the connectivity check, at any number of nodes. */
const MOST_SERIES = 40;
/**
 * Series of no node: the server's process, its calls and caches, pairs and agents of the cluster. 117 were counted. A further
 * kind of call to the API server adds 15.
 */
const MOST_OTHERS = 150;
const PLACES = NAMES.flatMap((node) => PLANES.map((plane) => ({ node, plane })));
/** Two minutes ahead: the nodes have long joined, so that their figures count. */
const LATER = new URL('../../harness/shiftClock.ts?seconds=120', import.meta.url).href;

const podOf = (node: string, plane: Plane): string => `${plane === 'Host' ? HOST_AGENT_NAME : AGENT_NAME}-${node}`;

let server: ConnectivityServer;
let agents: ConnectivityAgent[] = [];
let prometheus: RunningPrometheus;
let directory: string;

const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client, agentCrd(), AGENTS);
  await installCrd(client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
  await client.create(CONNECTIVITY_CHECKS, { metadata: { name: 'default' }, spec: { interval: '5s' } });
  for (const name of NAMES) await createNode(client, name);
  for (const { node, plane } of PLACES) {
    const app = plane === 'Host' ? HOST_AGENT_NAME : AGENT_NAME;
    await createAgentPod(client, podOf(node, plane), { node, app, ip: '127.0.0.1' });
  }
});

async function createNode(client: Client, name: string): Promise<void> {
  await client.create(NODES, { metadata: { name, labels: { 'kubernetes.io/os': 'linux' } } });
  const lastTransitionTime = new Date(Date.now() - 3_600_000).toISOString();
  const condition = { type: 'Ready', status: 'True', reason: 'Test', message: '', lastTransitionTime };
  const by = { fieldManager: 'test', subresource: 'status' } as const;
  await client.mergePatch(NODES, { name }, { status: { conditions: [condition] } }, by);
}

/** The EndpointSlices of the two Services, here one for each agent: all run on one machine, each with a port of its own. */
function slices(): V1EndpointSlice[] {
  return PLACES.map(({ node, plane }, n) => ({
    metadata: { labels: { 'kubernetes.io/service-name': plane === 'Host' ? HOST_AGENT_NAME : AGENT_NAME } },
    addressType: 'IPv4',
    ports: [{ name: 'peer', port: agents[n]!.peerPort }],
    endpoints: [{ nodeName: node, addresses: ['127.0.0.1'] }],
  }));
}

/** Differs from that in a cluster by the place of its files, the address of the server, and the pace. */
async function writeConfig(): Promise<string> {
  for (const { path, content } of configFiles(OPTIONS)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
  await writeFile(
    join(directory, targetsFile(0, AGENT_TARGETS)),
    renderGroups(agentTargetsOf(slices()), 1).files.join(''),
  );
  const [main] = configFiles(OPTIONS);
  return main!.content
    .replaceAll(TARGETS_DIRECTORY, directory)
    .replaceAll(/(scrape_interval|scrape_timeout): \d+s/g, '$1: 1s')
    .replace(`${SERVICE_NAME}.default:8081`, `localhost:${server.port}`)
    .replace(`https?://${SERVICE_NAME}[^/]*/`, 'https?://localhost[^/]*/');
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'traffic-series-'));
  server = await withNodeOptions(`--import=${LATER}`, () => startServer(scene.plane.kubeconfig, ['-allow-anonymous']));
  const urls = ['a', 'b', 'c'].map((path) => `http://localhost:${server.port}/${path}`);
  agents = await Promise.all(
    PLACES.map(({ node, plane }) =>
      startAgent(podOf(node, plane), node, server.port, [`--plane=${plane}`, `-probeurls=${urls.join()}`]),
    ),
  );
  prometheus = await startPrometheus({ config: await writeConfig(), dir: directory });
});
afterAll(async () => {
  await prometheus.stop();
  await Promise.all(agents.map((agent) => agent.kill()));
  await server.kill();
  await rm(directory, { recursive: true, force: true });
});

interface Series {
  metric: Record<string, string>;
  value: [number, string];
}

async function query(expression: string): Promise<Series[]> {
  const answer = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(expression)}`);
  return ((await answer.json()) as { data: { result: Series[] } }).data.result;
}

/** All series about a node, by its name or by the name of one of its agents. */
async function seriesOf(node: string): Promise<string[]> {
  const found = await query(`{job=~"netchecker-.*",node="${node}"} or {job=~"netchecker-.*",agent=~"${node}-.*"}`);
  return found.map(({ metric }) => metric.__name__ ?? '').sort();
}

const count = (names: readonly string[], pattern: RegExp): number => names.filter((name) => pattern.test(name)).length;

describe('Prometheus as it is deployed', () => {
  it('scrapes both agents of each node, under node and network', async () => {
    await vi.waitFor(async () => {
      const up = await query('up{job="netchecker-agent"} == 1');
      const places = up.map(({ metric: { node, plane, instance } }) => ({ node, plane, instance }));
      expect(places).toHaveLength(PLACES.length);
      expect(places).toEqual(expect.arrayContaining(PLACES.map((place) => ({ ...place, instance: place.node }))));
    }, WAIT);
  });

  it(`has at most ${MOST_SERIES} series for a node, with everything that one can have`, async () => {
    await vi.waitFor(async () => {
      for (const node of NAMES) {
        const names = await seriesOf(node);
        const has = (pattern: RegExp, least: number): void =>
          expect(count(names, pattern), `${pattern.source} of ${node}`).toBeGreaterThanOrEqual(least);
        // Made by Prometheus for two agents; of the agents; of both networks; of the reports; of the server's URL and another.
        has(/^(up|scrape_)/, 10);
        has(/^(process_|traffic_operator_connectivity_agent_)/, 6);
        has(/^traffic_operator_connectivity_(loss_ratio|latency_seconds)$/, 4);
        has(/^ncagent_(report|error)_count_total$/, 4);
        has(/^ncagent_http_probe_/, 16);
      }
    }, WAIT);
    for (const node of NAMES) {
      const names = await seriesOf(node);
      expect(names.length, names.join()).toBeLessThanOrEqual(MOST_SERIES);
    }
  });

  it(`has at most ${MOST_OTHERS} series besides, none of which is of a node under another label`, async () => {
    const all = await query('{job=~"netchecker-.*"}');
    expect(all.length).toBeLessThanOrEqual(MOST_SERIES * NAMES.length + MOST_OTHERS);
    const others = await vi.waitFor(async () => {
      const found = await query('{job=~"netchecker-.*",node="",agent=""}');
      expect(found.length).toBeGreaterThan(0);
      return found;
    }, WAIT);
    const ofNode = new RegExp(String.raw`\b(${NAMES.join('|')})\b`);
    expect(others.filter(({ metric }) => Object.values(metric).some((value) => ofNode.test(value)))).toEqual([]);
  });

  it('has the figures of each agent', async () => {
    for (const { node, plane } of PLACES) {
      const selector = `{node="${node}",plane="${plane}"}`;
      const of = async (metric: string): Promise<number> => Number((await query(metric + selector))[0]?.value[1]);
      // A scrape that took more than a second leaves none until the next one.
      await vi.waitFor(async () => {
        expect(await of('process_cpu_seconds_total')).toBeGreaterThan(0);
        expect(await of('process_resident_memory_bytes')).toBeGreaterThan(20e6);
        expect(await of('traffic_operator_connectivity_agent_report_age_seconds')).toBeLessThan(20);
      }, WAIT);
    }
  });

  it('sees the age of the last report rise while the server is away, and fall when it is back', async () => {
    const { port } = server;
    await server.kill();
    const isAge = (comparison: string): Promise<void> =>
      vi.waitFor(async () => {
        const found = await query(`traffic_operator_connectivity_agent_report_age_seconds ${comparison}`);
        expect(found).toHaveLength(PLACES.length);
      }, WAIT);
    await isAge('> 12');
    server = await startServer(scene.plane.kubeconfig, ['-allow-anonymous'], port);
    await isAge('< 12');
  });
});
