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
import { binDir, kubeconfigPath, removeNode, stopNode } from '../../lab/lab.ts';
import { helmInstall } from '../../scenario/install.ts';
import { getObject, kubectl } from '../../scenario/kubectl.ts';
import { leftovers, stackIfAny } from '../../scenario/stackLeftovers.ts';
import { runDemo, startCluster } from '../frame.ts';
import { say, step, watchUntil } from '../steps.ts';
import { servedSince, startClient, type Served } from './client.ts';
import {
  applyOpenSdn,
  disorderIn,
  EXPECTED,
  isHeldBy,
  isReady,
  NAMESPACE,
  notReplaced,
  pods,
  removalDisorderIn,
  restartsOf,
  urlsOf,
  stack,
  STACK,
  tableOf,
  told,
} from './openSdn.ts';

const MASTERS = ['node1', 'node2', 'node3'];
const NODES = 6;
/** The masters of most clusters have it: the sample tolerates it, and the operator runs on the workers. */
const TAINT = 'node-role.kubernetes.io/control-plane:NoSchedule';
/** A worker. */
const CLIENT_NODE = 'node4';
/** As long as DNS keeps the old address of a pod: 5 s in CoreDNS' cache, and as many in the record. */
const SETTLED_MS = 10_000;
/** 28 pods with 73 containers, some stages of three pods one after the other. */
const PATIENCE_MS = 300_000;

/** The components that the client asks. */
type Asked = ReturnType<typeof urlsOf>;

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
    step(`labelling and tainting ${MASTERS.join(', ')} as masters`, async () => {
      await kubectl('label', 'node', ...MASTERS, 'node-role.kubernetes.io/control-plane=', '--overwrite');
      await kubectl('taint', 'node', ...MASTERS, TAINT, '--overwrite');
    }),
  );
  await step('helm install charts/traffic-operator --set stacks.enabled=true', () =>
    helmInstall({ 'stacks.enabled': 'true' }),
  );
}

/** Until the stack is ready. @throws Error if pods are others, began before those that they need, or were restarted */
async function ready(what: string): Promise<void> {
  const seen = await watchUntil(what, stack, show, isReady, PATIENCE_MS);
  const all = await pods();
  const problems = [...disorderIn(seen, all), ...restartsOf(all).map((container) => `${container} was restarted`)];
  if (problems.length > 0) throw new Error(problems.join('; '));
  const table = tableOf(all);
  if (!isDeepStrictEqual(table, EXPECTED)) throw new Error(`these are other pods: ${JSON.stringify(table)}`);
}

async function bringUp(): Promise<void> {
  await step('kubectl apply -f deploy/samples/opensdn.yaml', () => applyOpenSdn('1.36'));
  await step('waiting until all components are ready', () => ready('the stack is ready'));
  console.log(`\n${await kubectl('get', 'trafficstack', STACK)}\n${await kubectl('get', 'pods', '-n', NAMESPACE)}`);
  say('each began after those that it needs; no container was restarted');
}

async function upgrade(asked: Asked): Promise<void> {
  await step(`starting a client on ${CLIENT_NODE}`, () => startClient(CLIENT_NODE, asked));
  const [before, begin] = [await pods(), new Date()];
  await step('kubectl apply: the same with another tag of the image', () => applyOpenSdn('1.37'));
  await step('waiting until all pods are replaced, stage by stage', () => ready('the upgrade is done'));
  const old = notReplaced(await pods(), before, '1.37');
  if (old.length > 0) throw new Error(`these pods were not replaced: ${old.join(', ')}`);
  say(`${before.length} pods were replaced, and run the new tag`);
  tell('the Services', await servedSince(begin, 'service'), asked);
}

function tell(what: string, served: Served, asked: Asked): void {
  const { requests, retried, failures } = served;
  if (failures.length > 0) throw new Error(`${what} did not answer, nor after a retry: ${failures.join(', ')}`);
  mustAnswer(what, served, asked);
  say(`the client asked ${what} ${requests} times: ${retried} retries, no failure`);
}

/** @throws Error if a component has not answered at all */
function mustAnswer(what: string, { answered }: Served, asked: Asked): void {
  const silent = [...asked.keys()].filter((name) => !answered.has(name));
  if (silent.length > 0) throw new Error(`${what} of ${silent.join(', ')} did not answer`);
}

/** A master without CoreDNS, of which the lab has one pod: without that, no client finds anything. */
async function masterWithoutDns(): Promise<string> {
  const dns = await getObject<{ items: V1Pod[] }>('pods', '-n', 'kube-system', '-l', 'k8s-app=kube-dns');
  const found = MASTERS.findLast((node) => dns.items.every(({ spec }) => spec?.nodeName !== node));
  if (found === undefined) throw new Error('each master has a pod of CoreDNS');
  return found;
}

async function loseMaster(off: string, asked: Asked): Promise<void> {
  await step('waiting until clients know the addresses of all new pods', () => served('pods', asked));
  await step(`switching ${off} off`, () => stopNode(off));
  const begin = new Date();
  await step(`waiting until ${off} is NotReady`, () =>
    kubectl('wait', `node/${off}`, '--for=condition=Ready=Unknown', '--timeout=60s'),
  );
  const [fromServices, fromPods] = [await servedSince(begin, 'service'), await servedSince(begin, 'pods')];
  tell('the pods', fromPods, asked);
  mustAnswer('the Services', fromServices, asked);
  const { requests, retried, failures } = fromServices;
  const failed = failures.length;
  // Until then, each third connection to a Service goes to the pod that is off, that of a retry, too.
  say(`the client asked the Services ${requests} times: ${retried} retries, ${failed} failures, each Service answered`);
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
  const after = await step('waiting until each Service answers every request', () => served('service', asked));
  say(`the client asked the Services ${after.requests} times in ${SETTLED_MS / 1_000} s: no retry, no failure`);
}

/** Until each component has answered for 10 s without any retry. */
function served(at: 'service' | 'pods', asked: Asked): Promise<Served> {
  return watchUntil(
    'no request was retried for 10 s',
    () => servedSince(new Date(Date.now() - SETTLED_MS), at),
    () => undefined,
    ({ answered, retried, failures }) => answered.size === asked.size && retried === 0 && failures.length === 0,
    60_000,
  );
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
  await bringUp();
  const asked = urlsOf(await stack(), MASTERS.length);
  await upgrade(asked);
  const off = await masterWithoutDns();
  await loseMaster(off, asked);
  await remove(off);
  farewell();
});
