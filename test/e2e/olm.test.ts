import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { V1Deployment, V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, onTestFailed, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import type { TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { measured, seconds } from '../harness/measured.ts';
import { NEXT_VERSION, writeNextBundle } from '../harness/nextBundle.ts';
import { SLACK, within } from '../harness/slack.ts';
import { loadImage } from '../lab/lab.ts';
import { writesSince } from '../scenario/audit.ts';
import { NAMESPACE, operatorLogs } from '../scenario/install.ts';
import { applyObjects, getObject, kubectl } from '../scenario/kubectl.ts';
import { labels, ownLabels } from '../scenario/nodeLabels.ts';
import { buildCatalog, make, olmRelease, provideCatalog, tagImage } from '../scenario/olm.ts';
import { applyWatch, podUids } from '../scenario/watch.ts';
import { allObjects, keyOf } from './storyLab/inventory.ts';
import { enterLab, leaveLab } from './storyLab/storyLab.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * The operator by the real OLM, all in pods: the commands of docs/olm.md, a TrafficWatch, the upgrade to the next bundle,
 * and the removal. One test goes on from the other.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const GENERATOR = join(ROOT, 'deploy/samples/traffic_generator.yaml');
const GENERATOR_LABELS = { 'app.kubernetes.io/name': 'traffic-generator' };
const CURRENT = packageJson.version;
const AVAILABLE = 'jsonpath={.status.conditions[?(@.type=="Available")].status}';
const ALL_FIT = { node1: 'false', node2: 'false', node3: 'false' };
const NODE1_IS_UNFIT = { ...ALL_FIT, node1: 'true' };
// Each command of make waits for minutes, if it must, and each wait here has a deadline of its own.
vi.setConfig({ testTimeout: 1_800_000 });

let release: string;
let directory: string;
/** The images of the catalog with one bundle, and with the next one. */
let catalogs: { current: string; next: string };
/** The content of the cluster before, OLM included. */
let before: string[];

const objects = async (): Promise<string[]> => (await allObjects()).map(keyOf).sort();
const ofOperator = (...args: string[]) => kubectl('get', '-n', NAMESPACE, ...args);
const phaseOf = (csv: string) => ofOperator('csv', csv, '--ignore-not-found', '-o', 'jsonpath={.status.phase}');
const generation = async () => (await getObject<V1Deployment>('deployment', 'web')).metadata?.generation;
const failureReport = (): void =>
  onTestFailed(async () => {
    console.error(await kubectl('get', 'pods,csv,installplan,catalogsource', '-A', '-o', 'wide').catch(String));
    console.error(await operatorLogs().catch(String));
  });

/** node1 without load sends far more than 1 kbit/s, and far less than 100 Gbit/s. */
const setCapacity = (capacity: string): Promise<string> =>
  kubectl('annotate', 'node', 'node1', '--overwrite', `traffic.example.com/capacity=${capacity}`);

/** Runs a target, and prints how long it takes. */
async function timed(target: string, variables: Record<string, string> = {}): Promise<string> {
  const begin = performance.now();
  const output = await make(target, variables);
  measured(`make ${target} took ${seconds(performance.now() - begin)}`);
  return output;
}

/** The pods of the operator that run. */
async function operatorPods(): Promise<V1Pod[]> {
  const { items } = await getObject<{ items: V1Pod[] }>(
    'pods',
    '-n',
    NAMESPACE,
    '-l',
    'app.kubernetes.io/component=manager',
  );
  return items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
}

async function stackIsReady(): Promise<void> {
  const { metadata, status } = await getObject<TrafficStack>('trafficstack', 'default');
  expect(status?.observedGeneration).toBe(metadata?.generation);
  expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
}

/** The answer of a server of the traffic generator, to which the Service leads from one of its pods. */
function echoed(text: string): Promise<string> {
  const client = ['exec', 'deployment/traffic-generator', '-n', 'traffic-generator', '-c', 'client', '--'];
  const url = 'http://traffic-generator:8080/cgi-bin/echo';
  return kubectl(...client, 'timeout', '5', 'wget', '-q', '-O', '-', `--post-data=${text}`, url);
}

/** The catalogs of this bundle and of the next one, as archives. */
async function buildCatalogs(): Promise<{ current: string; next: string }> {
  release = await olmRelease();
  const bundles = [join(ROOT, 'bundle'), writeNextBundle(directory)];
  const current = await buildCatalog(CURRENT, bundles.slice(0, 1), directory);
  return { current, next: await buildCatalog(NEXT_VERSION, bundles, directory) };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'olm-'));
  const building = buildCatalogs();
  // It is awaited later.
  building.catch(() => undefined);
  await enterLab();
  const archives = await building;
  await loadImage(join(release, 'olm.tar'));
  catalogs = {
    current: await provideCatalog(CURRENT, archives.current),
    next: await provideCatalog(NEXT_VERSION, archives.next),
  };
  await tagImage(`traffic-operator:${CURRENT}`, `traffic-operator:${NEXT_VERSION}`);
  await setCapacity('1kbit');
}, 900_000);
afterAll(async () => {
  await leaveLab();
  await rm(directory, { recursive: true });
});

it('make olm-install installs OLM, with its package server', async () => {
  failureReport();
  await timed('olm-install', { OLM_RELEASE: release });
  console.log(await kubectl('get', 'pods', '-n', 'olm'));
  expect(await kubectl('get', 'csv', 'packageserver', '-n', 'olm', '-o', 'jsonpath={.status.phase}')).toBe('Succeeded');
  expect(await kubectl('get', 'apiservice', 'v1.packages.operators.coreos.com', '-o', AVAILABLE)).toBe('True');
  before = await objects();
});

it('make olm-deploy brings the operator, with the stack `default`', async () => {
  failureReport();
  await timed('olm-deploy', { CATALOG_IMG: catalogs.current });
  expect(await phaseOf(`traffic-operator.v${CURRENT}`)).toBe('Succeeded');
  await vi.waitFor(async () => {
    expect(await ofOperator('installplan', '-o', 'jsonpath={.items[*].status.phase}')).toBe('Complete');
    await stackIsReady();
  }, within(120));
  console.log(await ofOperator('catalogsource,subscription,installplan,csv'));
  console.log(await ofOperator('pods', '-o', 'wide'), await kubectl('get', 'trafficstack'));
  const pods = await operatorPods();
  expect(pods.map(({ status }) => status?.phase)).toEqual(['Running', 'Running']);
});

it('a TrafficWatch labels the node that is over its threshold', async () => {
  failureReport();
  await kubectl('apply', '--server-side', '-k', join(ROOT, 'deploy/placement'));
  await applyWatch('web', '20', 3);
  await applyObjects([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'traffic-generator' } },
    {
      apiVersion: 'traffic.example.com/v1alpha1',
      kind: 'TrafficWatch',
      metadata: { name: 'generator', namespace: 'traffic-generator' },
      spec: { maxBandwidthPercent: '20', placement: 'Required', podSelector: { matchLabels: GENERATOR_LABELS } },
    },
  ]);
  await vi.waitFor(async () => {
    expect(await labels('web')).toEqual(NODE1_IS_UNFIT);
    expect(await labels('generator', 'traffic-generator')).toEqual(NODE1_IS_UNFIT);
  }, within(120));
  await vi.waitFor(async () => expect(await podUids('web')).toHaveLength(3), within(60));
});

it('the traffic generator of the samples runs on fit nodes alone', async () => {
  failureReport();
  await kubectl('apply', '-f', GENERATOR);
  await kubectl(
    'rollout',
    'status',
    'deployment/traffic-generator',
    '-n',
    'traffic-generator',
    `--timeout=${SLACK * 120}s`,
  );
  console.log(await kubectl('get', 'trafficwatch', '-A'), await kubectl('get', 'nodes', '-L', unfitKey('web')));
  console.log(await kubectl('get', 'pods', '-n', 'traffic-generator', '-o', 'wide'));
  const { items } = await getObject<{ items: V1Pod[] }>('pods', '-n', 'traffic-generator');
  expect(items.map(({ status }) => status?.phase)).toEqual(Array(4).fill('Running'));
  expect(items.map(({ spec }) => spec?.nodeName)).not.toContain('node1');
  await vi.waitFor(async () => expect(await echoed('a text')).toBe('a text'), within(30));
  await kubectl('delete', 'trafficwatch', 'generator', '-n', 'traffic-generator', `--timeout=${SLACK * 60}s`);
  await kubectl('delete', '--wait=false', '-f', GENERATOR);
});

it('an upgrade to the next bundle flips no label and rolls no Deployment, and the next operator is at work', async () => {
  failureReport();
  const [pods, deployment, begin, start] = [await podUids('web'), await generation(), new Date(), performance.now()];
  await make('olm-deploy', { CATALOG_IMG: catalogs.next });
  await vi.waitFor(
    async () => expect(await phaseOf(`traffic-operator.v${NEXT_VERSION}`)).toBe('Succeeded'),
    within(240),
  );
  measured(`the upgrade took ${seconds(performance.now() - start)}`);
  const next = await operatorPods();
  expect(next.map(({ spec }) => spec?.containers[0]?.image)).toEqual(Array(2).fill(`traffic-operator:${NEXT_VERSION}`));
  await setCapacity('100Gbit');
  await vi.waitFor(async () => {
    expect(await labels('web')).toEqual(ALL_FIT);
    expect(await phaseOf(`traffic-operator.v${CURRENT}`)).toBe('');
  }, within(120));
  console.log(await ofOperator('installplan,csv'));
  const writes = (await writesSince(begin, 'nodes')).map(({ name, pod }) => ({ name, pod }));
  expect(writes).toEqual([{ name: 'node1', pod: expect.any(String) as unknown }]);
  expect(next.map(({ metadata }) => metadata?.name)).toContain(writes[0]?.pod);
  expect(await podUids('web')).toEqual(pods);
  expect(await generation()).toBe(deployment);
});

it('make olm-undeploy uninstall leaves nothing', async () => {
  failureReport();
  await timed('olm-undeploy');
  await timed('uninstall');
  expect(await ownLabels()).toEqual([]);
  await vi.waitFor(async () => expect(await objects()).toEqual(before), within(120));
});
