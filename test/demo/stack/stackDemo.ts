/**
 * Shows a TrafficStack on a real cluster of three masters and three workers on this machine: it comes up in order, is upgraded in
 * order, loses a master, and is removed. Leaves the cluster running, so that you can look around. If a step fails, it names the step
 * and removes the cluster.
 *
 *   make demo-stack
 *
 * DEMO_DOWN=1 takes the cluster down at the end.
 */
import { isDeepStrictEqual } from 'node:util';
import type { V1Pod } from '@kubernetes/client-node';
import type { TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import { binDir, kubeconfigPath, removeNode, stopNode } from '../../lab/lab.ts';
import { helmInstall } from '../../scenario/install.ts';
import { getObject, kubectl } from '../../scenario/kubectl.ts';
import { runDemo, startCluster } from '../frame.ts';
import { say, step, watchUntil } from '../steps.ts';
import { servedSince, startClient, type Served } from './client.ts';
import {
  applyOpenSdn,
  disorderIn,
  EXPECTED,
  isReady,
  NAMESPACE,
  pods,
  restartsOf,
  urlsOf,
  stack,
  STACK,
  tableOf,
  told,
} from './openSdn.ts';

const MASTERS = ['node1', 'node2', 'node3'];
const NODES = 6;
/** A worker. */
const CLIENT_NODE = 'node4';
/** A client asks a pod at its old address as long as DNS keeps that: 5 s in CoreDNS' cache, and as many in the record. */
const DNS_MS = 10_000;
/** 28 pods with 73 containers, some stages of three pods one after the other. */
const PATIENCE_MS = 300_000;

/** What was printed of each component. */
const shown = new Map<string, string>();

/** Prints the components whose state has changed since it was last called, those that wait for the same one in one line. */
function show({ status }: TrafficStack): void {
  const changed = (status?.components ?? []).filter(({ name, state, waitingOn }) => {
    const key = `${state} ${waitingOn?.component}`;
    const isNew = shown.get(name) !== key;
    shown.set(name, key);
    return isNew;
  });
  for (const component of changed) if (component.waitingOn === undefined) say(`  ${told(component)}`);
  const roots = Map.groupBy(changed, ({ waitingOn }) => waitingOn?.component);
  roots.delete(undefined);
  for (const [root, waiting] of roots) say(`  wait for ${root}: ${waiting.map(({ name }) => name).join(', ')}`);
}

async function prepare(): Promise<void> {
  await startCluster(NODES, () =>
    step(`labelling ${MASTERS.join(', ')} as masters`, async () => {
      await kubectl('label', 'node', ...MASTERS, 'node-role.kubernetes.io/control-plane=', '--overwrite');
    }),
  );
  await step('helm install charts/traffic-operator --set stacks.enabled=true', () =>
    helmInstall({ 'stacks.enabled': 'true' }),
  );
}

/** Until the stack is ready. @throws Error if pods began before those that they need, or were restarted */
async function ready(what: string): Promise<void> {
  const seen = await watchUntil(what, stack, show, isReady, PATIENCE_MS);
  const all = await pods();
  const problems = [...disorderIn(seen, all), ...restartsOf(all).map((container) => `${container} was restarted`)];
  if (problems.length > 0) throw new Error(problems.join('; '));
}

async function bringUp(): Promise<void> {
  await step('kubectl apply -f deploy/samples/opensdn.yaml', () => applyOpenSdn('1.36'));
  await step('waiting until all components are ready', () => ready('the stack is ready'));
  console.log(`\n${await kubectl('get', 'trafficstack', STACK)}\n${await kubectl('get', 'pods', '-n', NAMESPACE)}`);
  const table = tableOf(await pods());
  if (!isDeepStrictEqual(table, EXPECTED)) throw new Error(`these are other pods: ${JSON.stringify(table)}`);
  say('each began after those that it needs; no container was restarted');
}

async function upgrade(): Promise<void> {
  await step(`starting a client on ${CLIENT_NODE}`, async () =>
    startClient(CLIENT_NODE, urlsOf(await stack(), MASTERS.length)),
  );
  const begin = new Date();
  await step('kubectl apply: the same with another tag of the image', () => applyOpenSdn('1.37'));
  await step('waiting until all pods are replaced, stage by stage', () => ready('the upgrade is done'));
  tell('the Services', await servedSince(begin, 'service'));
}

function tell(what: string, { requests, retried, failures }: Served): void {
  if (requests === 0) throw new Error(`the client has not asked ${what}`);
  if (failures.length > 0) throw new Error(`${what} did not answer, nor after a retry: ${failures.join(', ')}`);
  say(`a client asked ${what} ${requests} times: ${retried} retries, no failure`);
}

/** A master without CoreDNS, of which the lab has one pod: without that, no client finds anything. */
async function masterWithoutDns(): Promise<string> {
  const dns = await getObject<{ items: V1Pod[] }>('pods', '-n', 'kube-system', '-l', 'k8s-app=kube-dns');
  const found = MASTERS.findLast((node) => dns.items.every(({ spec }) => spec?.nodeName !== node));
  if (found === undefined) throw new Error('each master has a pod of CoreDNS');
  return found;
}

async function loseMaster(off: string): Promise<void> {
  await step('waiting until clients know the addresses of all new pods', () =>
    watchUntil(
      'no request was retried for 10 s',
      () => servedSince(new Date(Date.now() - DNS_MS), 'pods'),
      () => undefined,
      ({ requests, retried, failures }) => requests > 0 && retried === 0 && failures.length === 0,
    ),
  );
  const begin = new Date();
  await step(`switching ${off} off`, () => stopNode(off));
  await step('waiting until the stack shows it', () =>
    watchUntil(
      'the databases are Degraded',
      stack,
      show,
      ({ status }) =>
        ['zookeeper', 'cassandra', 'rabbitmq'].every(
          (name) => status?.components?.find((each) => each.name === name)?.state === 'Degraded',
        ),
      PATIENCE_MS,
    ),
  );
  tell('the pods', await servedSince(begin, 'pods'));
}

async function remove(off: string): Promise<void> {
  await step(`deleting ${off}, as an administrator does with a machine that does not come back`, () => removeNode(off));
  await step(`kubectl delete trafficstack ${STACK}`, () =>
    kubectl('delete', 'trafficstack', STACK, `--timeout=${PATIENCE_MS / 1_000}s`),
  );
  const kinds = 'pods,statefulsets,daemonsets,services,poddisruptionbudgets,controllerrevisions';
  const left = await getObject<{ items: unknown[] }>(kinds, '-n', NAMESPACE);
  if (left.items.length > 0) throw new Error(`something is left: ${JSON.stringify(left.items).slice(0, 500)}`);
  say('nothing is left');
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
  await bringUp();
  await upgrade();
  const off = await masterWithoutDns();
  await loseMaster(off);
  await remove(off);
  farewell();
});
