/**
 * Shows the operator on a real cluster on this machine: real kubelets, Prometheus, node-exporters and traffic. Leaves the
 * cluster running, so that you can look around. If a step fails, it names the step and removes the cluster.
 *
 *   make demo
 *
 * DEMO_DOWN=1 takes the cluster down at the end; DEMO_THRESHOLD sets the threshold in percent (default: 20).
 */
import { binDir, kubeconfigPath, shape } from '../lab/lab.ts';
import { helmInstall } from '../scenario/install.ts';
import { kubectl } from '../scenario/kubectl.ts';
import { hasSentAbove } from '../scenario/prometheus.ts';
import { startTraffic } from '../scenario/traffic.ts';
import { applyStatefulSet, nodesOfPods, restartStatefulSet, watchStatefulSet } from '../scenario/statefulSet.ts';
import { applyWatch, nodeRows, type NodeRow } from '../scenario/watch.ts';
import { runDemo, startCluster } from './frame.ts';
import { say, step, watchUntil } from './steps.ts';
import { LiveTable } from './table.ts';
import { unfitKey } from '../harness/unfitKey.ts';

const WATCH = 'web';
/** The existing StatefulSet, and its TrafficWatch. */
const EXISTING = 'db';
const THRESHOLD = process.env.DEMO_THRESHOLD ?? '20';
const NODES = ['node1', 'node2', 'node3'] as const;
/** The virtual links report 10 Gbit/s. They are limited to a rate that two cores can fill. */
const LINK = { tc: '100mbit', annotation: '100Mbit' };
/** Well above the threshold of 20 % of such a link. */
const MUCH_BYTES_PER_SECOND = 4e6;

const { stdout } = process;
const table = new LiveTable({
  isTTY: stdout.isTTY,
  // Read for each table: the user may resize the window.
  get columns() {
    return stdout.columns;
  },
  write: (text) => void stdout.write(text),
});

const show = (rows: readonly NodeRow[]): void => table.show(rows);
const look = (): Promise<NodeRow[]> => nodeRows(WATCH);

/** True if exactly this node is labelled unfit, and `running` pods of the watch run on the others. */
function settledOn(full: string, running: number): (rows: readonly NodeRow[]) => boolean {
  return (rows) =>
    rows.every((row) => row.label === String(row.node === full)) &&
    rows.reduce((sum, row) => sum + row.pods.length, 0) === running;
}

async function narrowLinks(): Promise<void> {
  for (const node of NODES) {
    await shape(node, LINK.tc);
    await kubectl('annotate', 'node', node, '--overwrite', `traffic.example.com/capacity=${LINK.annotation}`);
  }
}

async function prepare(): Promise<void> {
  await startCluster(NODES.length, () => step(`narrowing every node's link to ${LINK.annotation}/s`, narrowLinks));
  await step('helm install charts/traffic-operator', () => helmInstall());
}

/** False while Prometheus starts. */
function isMeasured(): Promise<boolean> {
  return hasSentAbove('node1', MUCH_BYTES_PER_SECOND).catch(() => false);
}

async function firstAct(): Promise<void> {
  await step('filling the link of node1: iperf3 from a pod there to a pod on node3', () =>
    startTraffic('node1', 'node3'),
  );
  // A verdict needs two passes that agree. Pods that are created before it are scheduled without it.
  await step('waiting until it shows in two passes of the operator', () =>
    watchUntil('Prometheus knows of it', isMeasured, () => undefined, Boolean),
  );
  await step(`kubectl apply: TrafficWatch ${WATCH}, threshold ${THRESHOLD} %, 4 replicas`, () =>
    applyWatch(WATCH, THRESHOLD, 4),
  );
  const rows = await step('waiting for the verdicts', () =>
    watchUntil('node1 is labelled and the pods run', look, show, settledOn('node1', 4)),
  );
  table.keep();
  const onFull = rows.find((row) => row.node === 'node1')?.pods ?? [];
  if (onFull.length > 0) throw new Error(`pods landed on the full node: ${onFull.join(' ')}`);
  say('node1 is full: all 4 pods landed on the others');
}

async function secondAct(): Promise<void> {
  const before = new Set((await look()).flatMap((row) => row.pods));
  await step('moving the traffic: now from node2', () => startTraffic('node2', 'node3'));
  await step('waiting for the labels to follow', () =>
    watchUntil('node2 is labelled instead', look, show, settledOn('node2', 4)),
  );
  table.keep();
  say('running pods stay where they are, as long as the kubelet runs: affinity is checked when a pod is scheduled');
  await step('scaling to 8 replicas', () =>
    kubectl('patch', 'trafficwatch', WATCH, '--type=merge', '-p', '{"spec":{"deployment":{"replicas":8}}}'),
  );
  const rows = await step('waiting for the new pods', () =>
    watchUntil('8 pods run', look, show, settledOn('node2', 8)),
  );
  table.keep();
  const newOnFull = (rows.find((row) => row.node === 'node2')?.pods ?? []).filter((pod) => !before.has(pod));
  if (newOnFull.length > 0) throw new Error(`new pods landed on the full node: ${newOnFull.join(' ')}`);
  say('all 4 new pods avoided node2');
}

async function showExisting(): Promise<string[]> {
  const nodes = await nodesOfPods(EXISTING);
  say(
    Object.entries(nodes)
      .map(([pod, node]) => `${pod} on ${node}`)
      .join(', '),
  );
  return Object.values(nodes);
}

async function thirdAct(): Promise<void> {
  await step(`kubectl apply: a StatefulSet ${EXISTING} of 3 pods, which knows nothing of the operator`, () =>
    applyStatefulSet(EXISTING, 3),
  );
  await showExisting();
  await step(`kubectl apply: TrafficWatch ${EXISTING} with targetRef`, () => watchStatefulSet(EXISTING, THRESHOLD));
  await step('waiting until node2 is labelled for it', () =>
    watchUntil(
      'node2 is labelled',
      () => nodeRows(EXISTING),
      () => undefined,
      settledOn('node2', 3),
    ),
  );
  await step(`kubectl rollout restart: the admission policy adds the node affinity to the new pods`, () =>
    restartStatefulSet(EXISTING),
  );
  if ((await showExisting()).includes('node2')) throw new Error('a pod of the StatefulSet landed on the full node');
  say('all 3 pods of the StatefulSet avoided node2, and the StatefulSet was not written');
}

async function farewell(): Promise<void> {
  console.log(`\n${await kubectl('get', 'trafficwatch')}`);
  console.log(`What was seen: the labels followed the traffic, and pods were scheduled by them.

Try next:
  export KUBECONFIG=${kubeconfigPath()} PATH=${binDir()}:$PATH
  kubectl get trafficwatch
  kubectl describe trafficwatch ${WATCH}
  kubectl get nodes -L ${unfitKey(WATCH)}
  kubectl delete -n traffic pod iperf3-client     # the traffic stops; the label goes back within a minute
  kubectl delete trafficwatch ${WATCH} ${EXISTING}              # takes their labels off

Take it down:
  make lab-down`);
}

await runDemo(async () => {
  await prepare();
  await firstAct();
  await secondAct();
  await thirdAct();
  await farewell();
});
