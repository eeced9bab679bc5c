/**
 * Shows a TrafficStack on a real cluster of three masters and three workers on this machine: it comes up in order, is upgraded in
 * order, loses a master, and is removed while that is off. Leaves the cluster running, so that you can look around. If a step fails, it names the step
 * and removes the cluster.
 *
 *   make demo-stack
 *
 * DEMO_DOWN=1 takes the cluster down at the end.
 */
import { isDeepStrictEqual } from 'node:util';
import type { V1Pod } from '@kubernetes/client-node';
import type { TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import { binDir, kubeconfigPath, removeNode } from '../../lab/lab.ts';
import { helmInstall } from '../../scenario/install.ts';
import { kubectl } from '../../scenario/kubectl.ts';
import { createdEarly } from '../../scenario/podOrder.ts';
import { PodWatch } from '../../scenario/podWatch.ts';
import { leftovers, stackIfAny } from '../../scenario/stackLeftovers.ts';
import { runDemo, startCluster } from '../frame.ts';
import { say, step, watchUntil } from '../steps.ts';
import { tellServed } from './answers.ts';
import { servedSince, startClient } from './client.ts';
import { loseMaster, masterToLose, type Client } from './lostMaster.ts';
import {
  applyOpenSdn,
  desiredPods,
  EXPECTED,
  isHeldBy,
  isReady,
  misplacedIn,
  NAMESPACE,
  notReplaced,
  pods,
  questionsOf,
  removalDisorderIn,
  restartsOf,
  stack,
  STACK,
  tableOf,
} from './openSdn.ts';
import { show } from './shown.ts';

const MASTERS = ['node1', 'node2', 'node3'];
const NODES = 6;
/** The masters of most clusters have it: the sample tolerates it, and the operator runs on the workers. */
const TAINT = 'node-role.kubernetes.io/control-plane:NoSchedule';
/** Workers. */
const [CLIENT_NODE, DNS_NODE] = ['node4', 'node5'];
/** 28 pods with 73 containers, some stages of three pods one after the other. */
const PATIENCE_MS = 300_000;

async function prepare(): Promise<void> {
  await startCluster(NODES, () =>
    step(`labelling and tainting ${MASTERS.join(', ')} as masters`, async () => {
      await kubectl('label', 'node', ...MASTERS, 'node-role.kubernetes.io/control-plane=', '--overwrite');
      await kubectl('taint', 'node', ...MASTERS, TAINT, '--overwrite');
    }),
  );
  await step(
    'moving CoreDNS to a worker: the lab has one pod of it, and without that no client finds anything',
    moveDns,
  );
  const namespaces = `{${NAMESPACE}}`;
  await step(`kubectl create namespace ${NAMESPACE}`, () => kubectl('create', 'namespace', NAMESPACE));
  await step(`helm install charts/traffic-operator --set 'stacks.enabled=true,stacks.namespaces=${namespaces}'`, () =>
    helmInstall({ 'stacks.enabled': 'true', 'stacks.namespaces': namespaces }),
  );
}

/** It tolerates the taint of masters. */
async function moveDns(): Promise<void> {
  const dns = ['deployment/coredns', '-n', 'kube-system'];
  const spec = { nodeSelector: { 'kubernetes.io/hostname': DNS_NODE } };
  await kubectl('patch', ...dns, '--patch', JSON.stringify({ spec: { template: { spec } } }));
  await kubectl('rollout', 'status', ...dns, '--timeout=60s');
}

/** Until the stack is ready. @throws Error if pods are others, began before those that they need, were restarted, or are on a wrong node */
async function ready(what: string, watch: PodWatch): Promise<void> {
  const seen = await watchUntil(what, stack, show, isReady, PATIENCE_MS);
  const all = await pods();
  const early = createdEarly(seen, await watch.eventsUntilNow(), desiredPods(seen));
  const restarts = restartsOf(all).map((container) => `${container} was restarted`);
  const problems = [...early, ...restarts, ...misplacedIn(all, MASTERS)];
  if (problems.length > 0) throw new Error(problems.join('; '));
  const table = tableOf(all);
  if (!isDeepStrictEqual(table, EXPECTED)) throw new Error(`these are other pods: ${JSON.stringify(table)}`);
}

async function bringUp(watch: PodWatch): Promise<void> {
  await step('kubectl apply -f deploy/samples/opensdn.yaml', () => applyOpenSdn('1.36'));
  await step('waiting until all components are ready', () => ready('the stack is ready', watch));
  console.log(`\n${await kubectl('get', 'trafficstack', STACK)}\n${await kubectl('get', 'pods', '-n', NAMESPACE)}`);
  say('no pod was created before those that it needs were ready; no container was restarted');
}

async function upgrade({ name, node, questions }: Client, watch: PodWatch): Promise<void> {
  await step(`starting a client on ${node}`, () => startClient(name, node, questions));
  const [before, begin] = [await pods(), new Date()];
  await step('kubectl apply: the same with another tag of the image', () => applyOpenSdn('1.37'));
  await step('waiting until all pods are replaced, stage by stage', () => ready('the upgrade is done', watch));
  const old = notReplaced(await pods(), before, '1.37');
  if (old.length > 0) throw new Error(`these pods were not replaced: ${old.join(', ')}`);
  say(`${before.length} pods were replaced, and run the new tag: none before those that it needs were ready with it`);
  const served = await servedSince(name, begin);
  tellServed('service', served.service, questions);
  const { requests, retried, failures } = served.single;
  const counts = `${requests} requests, ${retried} retries, ${failures.length} failures`;
  say(`provmanager has one pod, and does not answer while that is replaced: ${counts}`);
}

async function remove(off: string): Promise<void> {
  const before = await stack();
  await step(`kubectl delete trafficstack ${STACK}, while ${off} is off`, () =>
    kubectl('delete', 'trafficstack', STACK, '--wait=false'),
  );
  await step(`waiting until only pods on ${off} hold it up`, () =>
    removing('only they are left', before, (all) => isHeldBy(off, before, all)),
  );
  await step(`deleting ${off}, as an administrator does with a machine that does not come back`, () => removeNode(off));
  await step('waiting until the stack is gone', () =>
    removing('the stack is gone', before, (_, now) => now === undefined),
  );
  await step('looking for what is left', () =>
    watchUntil(
      'Kubernetes has removed what they own',
      () => leftovers(STACK, NAMESPACE),
      (left) => left.length > 0 && say(`  ${left.join(', ')}`),
      (left) => left.length === 0,
      20_000,
    ),
  );
  say('nothing is left');
}

/** Until the removal is so far. @throws Error if pods end before those that need them are gone */
async function removing(
  what: string,
  before: TrafficStack,
  done: (all: readonly V1Pod[], now: TrafficStack | undefined) => boolean,
): Promise<void> {
  const look = async () => ({ now: await stackIfAny(STACK), all: await pods() });
  const showBoth = ({ now, all }: Awaited<ReturnType<typeof look>>): void => {
    if (now !== undefined) show(now);
    const problems = removalDisorderIn(before, all);
    if (problems.length > 0) throw new Error(problems.join('; '));
  };
  await watchUntil(what, look, showBoth, ({ now, all }) => done(all, now), PATIENCE_MS);
}

function farewell(): void {
  console.log(`
Try next:
  export KUBECONFIG=${kubeconfigPath()} PATH=${binDir()}:$PATH
  kubectl apply -f deploy/samples/opensdn.yaml
  kubectl get trafficstack ${STACK} -o yaml

Take it down:
  make lab-down`);
}

await runDemo(async () => {
  await prepare();
  const watch = await PodWatch.start();
  let client: Client;
  try {
    await bringUp(watch);
    client = { name: 'client', node: CLIENT_NODE, questions: questionsOf(await stack()) };
    await upgrade(client, watch);
  } finally {
    await watch.stop();
  }
  const off = await masterToLose();
  await loseMaster(off, client);
  await remove(off);
  farewell();
});
