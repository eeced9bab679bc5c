import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { writeCatalog } from '../../../scripts/olm/writeCatalog.ts';
import { carryOutCleanup, runClusterScript } from '../../harness/clusterScript.ts';
import { startFixture, type Fixture } from '../../harness/fixture.ts';
import { metricsOf } from '../../harness/metricsOf.ts';
import { startOperator, type Operator } from '../../harness/operator.ts';
import { NEXT_VERSION, writeNextBundle } from '../../harness/nextBundle.ts';
import { binary } from '../../lab/binaries.ts';
import { startFakeKubelet } from './fakeKubelet.ts';
import { deployWithOlm, installed, NAMESPACE } from './installed.ts';
import { allObjects, field, kubectl, kubeconfigOf } from '../../harness/kubectl.ts';
import { startOlm, type OlmPlane } from './olmPlane.ts';
import { openShop, SHOP, type Shop } from './shop.ts';
import { unfitKey } from '../../harness/unfitKey.ts';

/**
 * The bundle with the real OLM on a real API server: from the catalog to the ClusterServiceVersion, the upgrade to the
 * next bundle, and the removal. No pod runs here: the operator and the clean-up run as processes, with the arguments, the
 * variables and the token that their pods would have.
 */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The rights of stacks of users. */
const STACKS = join(ROOT, 'deploy/stacks');
const WAIT = { timeout: 120_000, interval: 300 };
const NODES = ['n1', 'n2', 'n3'];
const UNFIT = unfitKey('web');
const LABELS = { n1: 'true', n2: 'false', n3: 'false' };
const CURRENT = `traffic-operator.v${packageJson.version}`;
const PASSES = 8;
/** The name of the Deployment for DNS weights, and of its ServiceAccount. */
const WEIGHTS = 'traffic-operator-weights';

let f: Fixture;
let olm: OlmPlane;
let endKubelet: () => Promise<void>;
let shop: Shop;
/** The process for DNS weights. */
let weights: Operator;
let directory: string;
/** The content of the cluster before, OLM included. */
let before: string[];

const get = (object: string, path: string): Promise<string> => field(f.controlPlane, ['-n', NAMESPACE, object], path);

/** Starts the operator that OLM has installed. */
async function startInstalled(prometheusUrl = f.prometheusUrl): Promise<void> {
  const { args, env } = await installed(f.controlPlane);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const kubeconfig = await kubeconfigOf(f.controlPlane, 'traffic-operator', NAMESPACE);
  // The window of the harness is shorter than four scrapes of 5 s.
  await f.startOperator([...args, '--scrape-interval=1s'], { kubeconfig, prometheusUrl });
  const ofWeights = await installed(f.controlPlane, WEIGHTS);
  weights = await startOperator({
    ...{ args: ofWeights.args, prometheusUrl, command: 'trafficweights' },
    kubeconfig: await kubeconfigOf(f.controlPlane, WEIGHTS, NAMESPACE),
  });
}

/** Ends the operator, which was refused nothing. */
async function endInstalled(): Promise<void> {
  const log = `${f.operator().log()}\n${weights.log()}`;
  await f.stopOperator();
  await weights.terminate();
  expect(log.split('\n').filter((line) => /forbidden|"status":403/i.test(line))).toEqual([]);
}

async function isInstalled(csv: string): Promise<void> {
  expect(await get('subscription/traffic-operator', '.status.installedCSV')).toBe(csv);
  expect(await get(`csv/${csv}`, '.status.phase')).toBe('Succeeded');
}

async function afterPasses(count: number): Promise<void> {
  const passes = async (): Promise<number> => (await metricsOf(f.operator())).sum('passes_total');
  const begin = await passes();
  await vi.waitFor(async () => expect(await passes()).toBeGreaterThanOrEqual(begin + count), WAIT);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'olm-test-'));
  f = await startFixture({ nodes: NODES, crd: 'none' });
  f.exporter.setPercent('n1', 60);
  olm = await startOlm(f.controlPlane);
  writeCatalog(join(directory, 'first'), [join(ROOT, 'bundle')]);
  await olm.serve(join(directory, 'first'));
  before = await allObjects(f.controlPlane);
  endKubelet = startFakeKubelet(f.client, NAMESPACE);
});
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(async () => {
  await endKubelet();
  await olm.stop();
  await f.stop();
  await rm(directory, { recursive: true });
});

describe('with OLM', () => {
  it('the ConfigMap of an unpacked bundle image has each manifest: its Job writes them there, compressed', async () => {
    const bundle = join(ROOT, 'bundle');
    await kubectl(f.controlPlane, ['create', 'configmap', 'unpacked']);
    // The command of the Job: pkg/controller/bundle/bundle_unpacker.go.
    const command = ['alpha', 'bundle', 'extract', '-m', `${bundle}/`, '-n', 'default', '-c', 'unpacked', '-z'];
    const { kubeconfig } = f.controlPlane;
    // opm prefers the variable to its flag.
    const env = { ...process.env, KUBECONFIG: kubeconfig };
    await promisify(execFile)(await binary('opm'), [...command, '-k', kubeconfig], { env });
    const text = await kubectl(f.controlPlane, ['get', 'configmap/unpacked', '-ojson']);
    const { binaryData = {} } = JSON.parse(text) as V1ConfigMap;
    expect(Object.keys(binaryData).sort()).toEqual((await readdir(join(bundle, 'manifests'))).sort());
    await kubectl(f.controlPlane, ['delete', 'configmap', 'unpacked']);
  });

  it('a Subscription installs the operator, with the variables of the Subscription', async () => {
    await deployWithOlm(f.controlPlane, olm.address, {
      TRAFFIC_OPERATOR_LOG_LEVEL: 'debug',
      TRAFFIC_OPERATOR_STACKS: 'true',
      TRAFFIC_OPERATOR_STACK_NAMESPACE: SHOP,
    });
    await vi.waitFor(async () => {
      await isInstalled(CURRENT);
      expect(await get('installplan', '.items[*].status.phase')).toBe('Complete');
    }, WAIT);
    // Nothing was pulled: the objects are in the catalog.
    expect(await kubectl(f.controlPlane, ['get', 'jobs', '-A', '-oname'])).toBe('');
    await vi.waitFor(async () => {
      const { env } = await installed(f.controlPlane);
      expect(env).toMatchObject({ TRAFFIC_OPERATOR_LOG_LEVEL: 'debug', TRAFFIC_OPERATOR_INTERVAL: '10s' });
    }, WAIT);
    const { args } = await installed(f.controlPlane);
    expect(args).toEqual([`--namespace=${NAMESPACE}`, '--leader-elect']);
    // With IDs, OpenShift would refuse the pod.
    const context = await get('deployment/traffic-operator', '.spec.template.spec.securityContext');
    expect(JSON.parse(context)).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(await get('poddisruptionbudget/traffic-operator', '.spec.maxUnavailable')).toBe('1');
    expect(await get('service/traffic-operator-metrics', '.spec.ports[0].port')).toBe('8080');
  });

  it('a TrafficWatch works, with the rights of stacks of users in addition', async () => {
    await kubectl(f.controlPlane, ['apply', '-k', STACKS]);
    await startInstalled();
    await f.createWatch('web', { maxBandwidthPercent: '20' });
    await vi.waitFor(async () => {
      expect(await f.labels(UNFIT)).toEqual(LABELS);
      expect((await f.watch('web')).status).toMatchObject({ ready: true, unfitNodes: 1, fitNodes: 2 });
    }, WAIT);
  });

  it('a TrafficStack and a TrafficWeight work', async () => {
    shop = await openShop(f.client, f.controlPlane);
    const weight = await field(f.controlPlane, ['trafficweight/dns'], '.status.currentWeight');
    expect(weight).toBe('75');
  });

  it('an upgrade to the next bundle flips no label', async () => {
    const ofShop = await shop.versions();
    const versions = await f.nodeVersions();
    const running = await field(f.controlPlane, ['deployment/web'], '.metadata.generation');
    writeCatalog(join(directory, 'second'), [join(ROOT, 'bundle'), writeNextBundle(directory)]);
    await olm.serve(join(directory, 'second'));
    await vi.waitFor(async () => {
      await isInstalled(`traffic-operator.v${NEXT_VERSION}`);
      expect(await get(`csv/${CURRENT}`, '.metadata.name')).toBe('');
    }, WAIT);
    expect((await installed(f.controlPlane)).image).toBe(`traffic-operator:${NEXT_VERSION}`);

    await endInstalled();
    await startInstalled();
    await afterPasses(PASSES);
    expect(await f.nodeVersions()).toEqual(versions);
    expect(await f.labels(UNFIT)).toEqual(LABELS);
    expect(await field(f.controlPlane, ['deployment/web'], '.metadata.generation')).toBe(running);
    expect(await shop.versions()).toEqual(ofShop);

    // It is at work all the same.
    f.exporter.setPercent('n1', 1);
    await vi.waitFor(async () => expect(await f.labels(UNFIT)).toEqual({ ...LABELS, n1: 'false' }), WAIT);
    await endInstalled();
  });

  it('the removal leaves nothing', async () => {
    // Without a Prometheus of others the operator deploys what it measures with.
    await startInstalled('');
    await vi.waitFor(async () => {
      expect(await get('deployment/prometheus', '.metadata.name')).toBe('prometheus');
      const components = await field(f.controlPlane, ['trafficstack/default'], '.spec.components[*].name');
      expect(components).toBe('node-exporter prometheus');
      expect(await f.labels(UNFIT)).not.toEqual({});
    }, WAIT);
    await shop.remove();
    await endInstalled();
    await kubectl(f.controlPlane, ['delete', '-k', STACKS]);

    await Promise.all([runClusterScript(f.controlPlane, 'olm-undeploy'), carryOutCleanup(f.controlPlane)]);
    expect(await f.labels(UNFIT)).toEqual({});
    expect((await f.watch('web')).metadata?.finalizers ?? []).toEqual([]);
    await runClusterScript(f.controlPlane, 'uninstall');
    await vi.waitFor(async () => expect(await allObjects(f.controlPlane)).toEqual(before), WAIT);
  });
});
