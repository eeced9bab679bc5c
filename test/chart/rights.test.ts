import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../scripts/chart/helm.ts';
import { operatorObjects, renderChart } from '../../scripts/generate/deploy.ts';
import { valuesWithout } from '../../scripts/generate/features.ts';
import { prometheusSelector } from '../../src/controllers/measurement/components/prometheus.ts';
import { type Fixture, startFixture } from '../harness/fixture.ts';
import { compareGrants, type Exception, type Grant, grantsOf } from '../harness/grants.ts';
import { kubeconfigOf, kubectl as kubectlOf, tokenOf } from '../harness/kubectl.ts';
import { operatorMain } from '../harness/operatorMain.ts';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { targetReasons, watchesOfMissingTargets } from '../scenario/targets.ts';
import { labels } from './nodeChanges.ts';
import { sender } from './sender.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * The operator and its clean-up with the rights that deploy/ gives them, on a real API server with RBAC: nothing is
 * refused, and nothing is allowed that was not used. Stacks of users and weights do not run here, and their rights are taken away:
 * integration/stacks does the same for them, and integration/weights for the process for DNS weights.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NAMESPACE = 'traffic-operator-system';
const EXPORTER_NAMESPACE = `${NAMESPACE}-node-exporter`;
const AGENTS_NAMESPACE = `${NAMESPACE}-connectivity`;
const CLEANUP = 'traffic-operator-cleanup';
const CLUSTER_ROLE = 'clusterrole/traffic-operator-system-traffic-operator';
const ROLES = [CLUSTER_ROLE, 'role/traffic-operator'];
const UNFIT = unfitKey('web');
const WAIT = { timeout: 120_000, interval: 300 };
const run = promisify(execFile);

const USER = `system:serviceaccount:${NAMESPACE}:traffic-operator`;
const EXCEPTIONS: readonly Exception[] = [
  {
    right: /^update traffic(stacks|watches)\S+\/finalizers$/,
    why: 'for the admission plugin OwnerReferencesPermissionEnforcement, which is off here',
  },
  {
    right: /^(get|create|patch|delete) controllerrevisions/,
    why: 'to store what is ready of a stack, and nothing gets ready here: test/integration/stacks/builtIns.test.ts',
  },
  {
    right: /^(create|patch|delete) configmaps "prometheus-(agent-)?targets-2"/,
    why: 'for more nodes than one ConfigMap holds: src/controllers/measurement/decide/targets.test.ts',
  },
  {
    right: /^get services$/,
    why: 'for a Prometheus of another owner that no watch has yet: test/integration/stacks/external.test.ts',
    byChance: true,
  },
  { right: /^patch events/, why: 'for an event that repeats within ten minutes', byChance: true },
  { right: /^list events/, why: 'for a component that is not ready', byChance: true },
];

let f: Fixture;
/** The rights that the roles of the operator have granted. */
const granted = new Map<string, Grant>();

const kubectl = (args: readonly string[], input?: object): Promise<string> => kubectlOf(f.controlPlane, args, input);

const names = async (kinds: string, namespace: string): Promise<string[]> =>
  (await kubectl(['get', kinds, '-n', namespace, '-oname'])).split('\n').filter(Boolean).sort();

/** Pods that no controller makes here: the operator's own, found by its name, and Prometheus'. */
async function createPods(): Promise<void> {
  const deployment = JSON.parse(await kubectl(['get', 'deployment/traffic-operator', '-n', NAMESPACE, '-ojson'])) as {
    metadata: { uid: string };
    spec: { selector: object; template: Manifest };
  };
  const { template, selector } = deployment.spec;
  const owner = (apiVersion: string, kind: string, name: string, uid: string): object[] => [
    { apiVersion, kind, name, uid, controller: true },
  ];
  const meta = (name: string, ownerReferences: object[]): object => ({ name, namespace: NAMESPACE, ownerReferences });
  const replicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: meta('rs', owner('apps/v1', 'Deployment', 'traffic-operator', deployment.metadata.uid)),
    spec: { replicas: 0, selector, template },
  };
  await kubectl(['create', '-f-'], replicaSet);
  const uid = await kubectl(['get', 'rs/rs', '-n', NAMESPACE, '-ojsonpath={.metadata.uid}']);
  const pod = { ...template, apiVersion: 'v1', kind: 'Pod' };
  await kubectl(['create', '-f-'], { ...pod, metadata: meta('operator', owner('apps/v1', 'ReplicaSet', 'rs', uid)) });
  const labels = prometheusSelector(NAMESPACE);
  await kubectl(['create', '-f-'], { ...pod, metadata: { name: 'prometheus-0', namespace: NAMESPACE, labels } });
}

async function createEndpointSlice(): Promise<void> {
  const labels = { 'kubernetes.io/service-name': 'node-exporter' };
  await kubectl(['create', '-f-'], {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'node-exporter-1', namespace: EXPORTER_NAMESPACE, labels },
    addressType: 'IPv4',
    ports: [{ name: 'metrics', port: 9100 }],
    endpoints: [{ addresses: ['10.1.2.3'], nodeName: 'n1', conditions: { ready: true } }],
  });
}

/** Adds what the roles of the operator grant now. */
async function noteGranted(): Promise<void> {
  for (const [text, grant] of await grantsOf(f.controlPlane, NAMESPACE, 'traffic-operator')) granted.set(text, grant);
}

/** Gives the roles of the operator the rights that the chart renders with this value, in addition to the rights of deploy/. */
async function applyRoles(value: string): Promise<void> {
  const objects = operatorObjects(renderChart([...valuesWithout([]), value]));
  for (const object of objects) {
    if (ROLES.includes(`${object.kind.toLowerCase()}/${object.metadata.name}`)) await kubectl(['apply', '-f-'], object);
  }
}

/** Ends the operator; whatever it was refused stands in its log. */
async function endOperator(): Promise<void> {
  const log = f.operator().log();
  await f.stopOperator();
  expect(log.split('\n').filter((line) => /forbidden|"status":403/i.test(line))).toEqual([]);
}

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  await kubectl(['apply', '-k', `${ROOT}deploy`]);
  await kubectl(['apply', '-k', `${ROOT}deploy/cleanup`]);
  for (const plural of ['connectivitychecks', 'trafficstacks']) {
    await kubectl(['create', '-f', `${ROOT}deploy/crds/traffic.example.com_${plural}.yaml`]);
  }
  await createPods();
  vi.stubEnv('POD_NAME', 'operator');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await f.stop();
});

describe('the rights in deploy/', () => {
  /** With TLS, so that the rights to the CA of the agents are also used. */
  const deployAll = (): string[] => [
    ...['--prometheus-url=', '--scrape-interval=1s', '--connectivity', '--connectivity-image=i:1'],
    ...['--connectivity-tls-secret=t', `--connectivity-server-ca-file=${join(f.controlPlane.directory, 'ca.crt')}`],
  ];
  let as: readonly string[];

  it('let the operator deploy what it measures with and write its targets', async () => {
    // With a claim for Prometheus, so that the rights to it are also used.
    as = [
      '--prometheus-storage-size=1Gi',
      `--kubeconfig=${await kubeconfigOf(f.controlPlane, 'traffic-operator', NAMESPACE)}`,
      '--leader-elect',
      `--namespace=${NAMESPACE}`,
    ];
    await applyRoles('connectivity.enabled=true');
    await noteGranted();
    await f.startOperator([...as, ...deployAll()]);
    await vi.waitFor(async () => {
      expect(await names('ds,svc,sa', EXPORTER_NAMESPACE)).toContain('daemonset.apps/node-exporter');
      expect(await names('deployments,cm,svc,sa', NAMESPACE)).toContain('deployment.apps/prometheus');
      expect(await names('ds,sa', AGENTS_NAMESPACE)).toContain('daemonset.apps/netchecker-agent-hostnet');
    }, WAIT);
    await createEndpointSlice();
    await vi.waitFor(async () => {
      const annotations = await kubectl([
        'get',
        'pod/prometheus-0',
        '-n',
        NAMESPACE,
        '-ojsonpath={.metadata.annotations}',
      ]);
      expect(annotations).toContain('targets-hash');
    }, WAIT);
    await endOperator();
  });

  it('let it take that away again, also without the rights to make the connectivity check, and do its main job', async () => {
    await applyRoles('connectivity.enabled=false');
    await f.createWatch('web', { maxBandwidthPercent: '10' });
    await f.startOperator(as);
    await vi.waitFor(async () => {
      expect(await f.labels(UNFIT)).toEqual({ n1: 'false', n2: 'false' });
      expect((await f.watch('web')).status?.ready).toBe(true);
      expect(await names('deployments', 'default')).toEqual(['deployment.apps/web']);
      expect((await f.events('web')).map((event) => event.reason)).toContain('Decided');
      const left = /prometheus|netchecker/;
      expect((await names('deployments,cm,svc,sa', NAMESPACE)).filter((one) => left.test(one))).toEqual([]);
      expect(await names('ds,svc,sa', AGENTS_NAMESPACE)).toEqual([]);
      const phase = await kubectl(['get', 'namespace', EXPORTER_NAMESPACE, '-ojsonpath={.status.phase}']);
      expect(phase).toBe('Terminating');
    }, WAIT);
    await endOperator();
  });

  it('let it read the workloads of others', async () => {
    const watches = watchesOfMissingTargets();
    for (const watch of watches) await f.client.create(TRAFFIC_WATCHES, watch);
    await f.startOperator(as);
    const names = watches.map(({ metadata }) => metadata?.name ?? '');
    await vi.waitFor(async () => {
      const found = await Promise.all(names.map((name) => f.watch(name)));
      expect(targetReasons(found)).toEqual(names.map(() => 'TargetNotFound'));
    }, WAIT);
    await endOperator();
    for (const name of names) await f.deleteWatch(name);
  });

  const placements = (): Promise<string[]> => names('podplacements', 'default');
  const PLACEMENT = ['podplacement.traffic.example.com/traffic-operator'];
  const selecting = { maxBandwidthPercent: '10', podSelector: { matchLabels: { app: 'other' } } };

  it('let it hand the pods of others to the admission policy, and take them away again', async () => {
    await f.createWatch('pods', selecting);
    await f.startOperator(as);
    await vi.waitFor(async () => expect(await placements()).toEqual(PLACEMENT), WAIT);
    await kubectl(['delete', 'trafficwatch', 'pods', '-n', 'default', '--wait=false']);
    await vi.waitFor(async () => expect(await placements()).toEqual([]), WAIT);
    await endOperator();
  });

  it('let it do no more than it does', async () => {
    await noteGranted();
    expect(compareGrants(f.controlPlane, USER, granted, EXCEPTIONS)).toEqual({ unused: [], stale: [] });
  });

  it('are limited to the labels of the operator by the policy on Nodes, also for the clean-up', async () => {
    const cleanup = await sender(f.controlPlane, await tokenOf(f.controlPlane, CLEANUP, CLEANUP));
    await vi.waitFor(async () => {
      const { status, message } = await cleanup('PATCH', '/api/v1/nodes/n1?dryRun=All', labels({ x: 'y' }));
      expect([status, message]).toEqual([403, expect.stringContaining('may change no labels of a Node but those')]);
    }, WAIT);
  });

  it('let the clean-up leave nothing behind', async () => {
    // What a namespace controller would do.
    for (const name of [EXPORTER_NAMESPACE, AGENTS_NAMESPACE]) {
      await kubectl(['replace', '--raw', `/api/v1/namespaces/${name}/finalize`, '-f-'], {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
        spec: { finalizers: [] },
      });
    }
    await f.createWatch('left', selecting);
    await applyRoles('connectivity.enabled=true');
    await f.startOperator([...as, ...deployAll()]);
    await vi.waitFor(async () => {
      expect(await names('deployments', NAMESPACE)).toContain('deployment.apps/prometheus');
      expect(await placements()).toEqual(PLACEMENT);
    }, WAIT);
    await endOperator();
    await kubectl(['delete', 'pod', 'operator', 'prometheus-0', '-n', NAMESPACE, '--now']);

    const [job] = parseAllDocuments(await kubectl(['get', 'job', '-n', CLEANUP, '-oyaml'])).map(
      (document) => (document.toJS() as { items: Manifest[] }).items[0],
    );
    const { args } = (job?.spec as { template: { spec: { containers: [{ args: string[] }] } } }).template.spec
      .containers[0];
    const kubeconfig = `--kubeconfig=${await kubeconfigOf(f.controlPlane, CLEANUP, CLEANUP)}`;
    const { stdout } = await run(process.execPath, [operatorMain(), ...args, kubeconfig], { timeout: 180_000 });

    expect(stdout).toContain('labels and finalizers are off');
    expect(await f.labels(UNFIT)).toEqual({});
    expect((await f.watch('web')).metadata?.finalizers ?? []).toEqual([]);
    expect(await names('deployments,cm,leases', NAMESPACE)).toEqual([
      'deployment.apps/traffic-operator',
      'deployment.apps/traffic-operator-weights',
    ]);
    expect(await names('ds,svc,sa', EXPORTER_NAMESPACE)).toEqual([]);
    expect(await placements()).toEqual([]);
    for (const name of ['traffic-operator', 'traffic-operator-weights'])
      expect(await kubectl(['get', `deploy/${name}`, '-n', NAMESPACE, '-ojsonpath={.spec.replicas}'])).toBe('0');
  });
});
