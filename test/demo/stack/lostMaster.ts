import type { V1Pod } from '@kubernetes/client-node';
import { stopNode } from '../../lab/lab.ts';
import { kubectl } from '../../scenario/kubectl.ts';
import { componentOf } from '../../scenario/podOrder.ts';
import { say, step, watchUntil } from '../steps.ts';
import { SETTLED_MS, settled, tellOutage, tellServed } from './answers.ts';
import { servedSince, startClient, type Question } from './client.ts';
import { NAMESPACE, pods, restartsOf, stack, vrouterQuestions } from './openSdn.ts';
import { show } from './shown.ts';

/** Has one pod: who loses its node loses it. */
const SINGLE = 'provmanager';
/** Have no Service, and other addresses since the upgrade. */
const VROUTER_CLIENT = 'vrouter-client';
const DATABASES = ['zookeeper', 'cassandra', 'rabbitmq'];
const PATIENCE_MS = 60_000;

/** A client, and what it asks. */
export interface Client {
  readonly name: string;
  readonly node: string;
  readonly questions: readonly Question[];
}

/** The node of the component with one pod: what is lost with a master can be seen there. */
export async function masterToLose(): Promise<string> {
  return (await onlyPod()).spec?.nodeName ?? '';
}

/**
 * Switches a master off. All that has pods on other nodes has to go on answering, also the vrouters there; the component whose only pod
 * is on the master does not, the stack has to name it, and it answers again when an administrator has deleted that pod.
 */
export async function loseMaster(off: string, client: Client): Promise<void> {
  const vrouters = { ...client, name: VROUTER_CLIENT, questions: vrouterQuestions(await pods(), off) };
  await step('starting a client of the vrouters on the other nodes', () => start(vrouters));
  await step('waiting until clients know the addresses of all new pods', () => settle(client, 'pods'));
  await step(`switching ${off} off`, () => stopNode(off));
  const begin = new Date();
  await step(`waiting until ${off} is NotReady`, () =>
    kubectl('wait', `node/${off}`, '--for=condition=Ready=Unknown', '--timeout=60s'),
  );
  const served = await servedSince(client.name, begin);
  tellServed('pods', served.pods, client.questions);
  tellServed('vrouter', (await servedSince(vrouters.name, begin)).vrouter, vrouters.questions);
  // Until then, each third connection to a Service goes to the pod that is off, also for a retry.
  tellOutage(served.service, client.questions);
  await expectNamed(off);
  const after = await step('waiting until each Service answers every request', () => settle(client, 'service'));
  say(`the client asked the Services ${after.requests} times in ${SETTLED_MS / 1_000} s: no retry, no failure`);
  await settle(vrouters, 'vrouter');
  await replaceSingle(client);
  const restarted = restartsOf(await pods(), off);
  if (restarted.length > 0) throw new Error(`restarted while ${off} was off: ${restarted.join(', ')}`);
  say('no container of the other nodes was restarted');
}

const start = ({ name, node, questions }: Client) => startClient(name, node, questions);
const settle = ({ name, questions }: Client, at: Question['at']) => settled(name, at, questions);

/** Until the stack shows that pods are missing, and which one nothing replaces. */
async function expectNamed(off: string): Promise<void> {
  const lost = `${NAMESPACE}/${(await onlyPod()).metadata?.name} is on node ${off}`;
  await step('waiting until the stack shows it', () =>
    watchUntil(
      `the databases are Degraded, and ${SINGLE} names pod ${lost}`,
      stack,
      show,
      ({ status }) => {
        const find = (wanted: string) => status?.components?.find(({ name }) => name === wanted);
        const { state, message } = find(SINGLE) ?? {};
        const isNamed = state === 'Degraded' && message?.includes(lost) === true;
        return isNamed && DATABASES.every((name) => find(name)?.state === 'Degraded');
      },
      PATIENCE_MS,
    ),
  );
}

/** Kubernetes keeps the only pod of a StatefulSet until a user says that it no longer runs. */
async function replaceSingle({ name }: Client): Promise<void> {
  const seen = await servedSince(name, new Date(Date.now() - SETTLED_MS));
  const { requests, retried, failures } = seen.single;
  if (requests === 0 || failures.length < requests) {
    throw new Error(
      `${SINGLE} answered ${requests - failures.length} of ${requests} requests, after ${retried} retries`,
    );
  }
  say(
    `${SINGLE} has one pod, on the master that is off: it is not available, and ${requests} of ${requests} requests failed`,
  );
  const { metadata } = await onlyPod();
  await step(`kubectl delete pod ${metadata?.name} --force, as an administrator does who knows that it is off`, () =>
    kubectl('delete', 'pod', metadata?.name ?? '', '-n', NAMESPACE, '--force', '--grace-period=0'),
  );
  await step(`waiting until ${SINGLE} answers`, () =>
    watchUntil(
      'its new pod on another master answers',
      async () => (await servedSince(name, new Date(Date.now() - 2_000))).single,
      () => undefined,
      ({ answered }) => answered.has(SINGLE),
      PATIENCE_MS,
    ),
  );
  say(`${SINGLE} answers from ${(await onlyPod()).spec?.nodeName}`);
}

async function onlyPod(): Promise<V1Pod> {
  const [pod, ...others] = (await pods()).filter((each) => componentOf(each) === SINGLE);
  if (pod === undefined || others.length > 0)
    throw new Error(`${SINGLE} has ${others.length === 0 ? 'no' : 'several'} pods`);
  return pod;
}
