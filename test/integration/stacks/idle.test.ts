import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { DAEMONSETS, DEPLOYMENTS } from '../../../src/runtime/client/resources.ts';
import { arrived, untilNone, untilQuiet } from '../../harness/audit.ts';
import { inParallel } from '../../harness/inParallel.ts';
import { measured, seconds, sleep } from '../../harness/measured.ts';
import { startOperator, type Operator } from '../../harness/operator.ts';
import { giveRoom } from '../injection/world.ts';
import { Installation } from './installation.ts';
import { NODE } from './kubelet.ts';
import { component, LEASE_RIGHTS, PERSON, USER, WAIT, type StackScene } from './scene.ts';
import { installTheirPrometheus, resolvingServices, THEIR_PROMETHEUS } from './theirPrometheus.ts';

/**
 * 20 stacks that are ready, with 100 workloads of another owner, each of which has a watch: more than fit on one connection. Another stack uses
 * a node-exporter and a Prometheus of another owner. There are two replicas of the operator, as the chart has.
 */
const STACKS = 20;
const THEIRS_IN_EACH = 5;
const QUIET_MS = 30_000;
/** Each controller of Kubernetes sends 20 requests in a second, and several for each of a hundred Deployments. */
const SCALED = { ...WAIT, timeout: 200_000 };
const numbers = Array.from({ length: STACKS }, (_, n) => n);
const theirsOf = (n: number) => Array.from({ length: THEIRS_IN_EACH }, (_, m) => `s${n}-theirs-${m}`);
let i: Installation;
let s: StackScene;
let standby: Operator;

beforeAll(async () => {
  i = await Installation.start(USER, [], [LEASE_RIGHTS]);
  s = i.scene;
  await giveRoom(s.f, [NODE], '500');
  await installTheirPrometheus(s);
  await installExporter();
  await inParallel(numbers.flatMap(theirsOf), installWorkload);
  await resolvingServices(() => i.startOperator('--leader-elect'));
  const over = { kubeconfig: s.kubeconfig, prometheusUrl: undefined };
  standby = await startOperator({ ...over, args: ['--scrape-interval=1s', '--stacks', '--leader-elect'] });
  await s.create('metrics', [
    { name: 'exporter', type: 'NodeExporter', mode: 'External' },
    { name: 'prometheus', type: 'Prometheus', mode: 'External' },
  ]);
  await inParallel(numbers, (n) => s.create(`quiet-${n}`, componentsOf(n)));
});
afterAll(async () => {
  await standby.kill();
  await i.stop();
});

async function installWorkload(name: string): Promise<void> {
  const labels = { app: name };
  const containers = [{ name: 'app', image: 'theirs:7' }];
  const spec = { nodeName: NODE, terminationGracePeriodSeconds: 0, containers };
  await s.f.client.create(DEPLOYMENTS, {
    metadata: { namespace: 'default', name },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
}

async function installExporter(): Promise<void> {
  const labels = { app: 'exporter' };
  const containers = [{ name: 'node-exporter', image: 'theirs:7', ports: [{ containerPort: 9100 }] }];
  await s.f.client.create(DAEMONSETS, {
    metadata: { namespace: THEIR_PROMETHEUS.namespace, name: 'node-exporter' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { hostNetwork: true, containers } },
    },
  });
}

function componentsOf(n: number): ComponentSpec[] {
  const external = theirsOf(n).map((name): ComponentSpec => {
    return { name, type: 'Workload', mode: 'External', workload: { kind: 'Deployment', namespace: 'default' } };
  });
  return [
    ...external,
    component(`s${n}-api`, { dependsOn: theirsOf(n) }),
    component(`s${n}-agent`, { kind: 'DaemonSet' }),
  ];
}

it('all are ready', async () => {
  await s.ready('metrics');
  await s.becomes('prometheus', { state: 'Ready', reason: 'Answering' }, 'metrics');
  for (const n of numbers) await s.ready(`quiet-${n}`);
});

it('at most one request in a second is sent while nothing changes', async () => {
  const all = () => arrived(s.f.controlPlane).filter(({ user }) => user === USER);
  // Until their watches are current, workloads of another owner are read every 10 s.
  const reads = () => all().filter(({ verb, resource }) => verb === 'get' && resource === 'deployments');
  await untilNone('no workload is read', reads, 12_000);
  await untilQuiet(s.f.controlPlane, USER);
  const since = Date.now();
  await sleep(QUIET_MS);
  const requests = all().filter(({ at }) => at >= since && at < since + QUIET_MS);
  const by = [...Map.groupBy(requests, ({ verb, resource }) => `${verb} ${resource}`)];
  const counts = by.map(([what, { length }]) => `${length} ${what}`).join(', ');
  measured(
    `${requests.length} requests in ${seconds(QUIET_MS)} with ${STACKS} stacks and ${STACKS * THEIRS_IN_EACH} workloads of another owner: ${counts}`,
  );
  // Its Lease is renewed: a count of nothing would be of the wrong user.
  expect(requests.length).toBeGreaterThan(0);
  expect(requests.length).toBeLessThanOrEqual(QUIET_MS / 1_000);
});

it('a change of any of the workloads is seen all the same', async () => {
  const scale = (name: string) =>
    s.f.client.mergePatch(DEPLOYMENTS, { namespace: 'default', name }, { spec: { replicas: 2 } }, PERSON);
  const since = performance.now();
  await inParallel(numbers, (n) => inParallel(theirsOf(n), scale));
  await vi.waitFor(async () => {
    for (const n of numbers) {
      const found = (await s.stack(`quiet-${n}`)).status?.components?.filter(({ name }) => theirsOf(n).includes(name));
      expect(found?.map(({ readyReplicas }) => readyReplicas)).toEqual(theirsOf(n).map(() => 2));
    }
  }, SCALED);
  measured(
    `${STACKS * THEIRS_IN_EACH} workloads of another owner have a second pod: in ${seconds(performance.now() - since)}`,
  );
});
