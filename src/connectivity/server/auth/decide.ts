import { reportSchema } from '../../../api/agent/report.ts';
import type { Claims, Identity } from './token.ts';

/** A pod of an agent in the informer. */
export interface KnownPod {
  readonly uid: string;
  /** Undefined before it is scheduled. */
  readonly node: string | undefined;
}

/** Who may report. */
export interface Rules {
  /** `NAMESPACE/NAME`. Empty: every ServiceAccount whose pod is one of the agents. */
  readonly serviceAccounts: readonly string[];
}

/** The token's pod in the informer; undefined if there is none. `unread`: the pods are not read yet. */
export type PodLookup = KnownPod | 'unread' | undefined;

/** The agent that reports. */
export interface Reporter {
  readonly namespace: string;
  readonly pod: string;
  readonly node: string;
}

/** The answer to a refused report. The text may name the pod of the request and of the token, but never has the token. */
export interface Refusal {
  readonly status: 401 | 403 | 503;
  readonly text: string;
}

/**
 * Refuses a token by its claimed pod, before the token is verified. A claim proves nothing, but if even the true claim may
 * not report, no TokenReview is needed: made-up tokens cannot make the server call the API server.
 *
 * | the pod of the claims | result |
 * |---|---|
 * | none | 403 |
 * | the pods of agents are not read yet | 503 |
 * | no agent, or an earlier pod of the same name | 403 |
 * | an agent | undefined |
 *
 * @param name the pod in the URL
 */
export function refuseClaims(pod: Claims['pod'], name: string, known: PodLookup): Refusal | undefined {
  if (pod === undefined) return forbidden(`the token names no pod: must be bound to the pod ${name}`).refusal;
  if (known === 'unread') return UNREAD;
  return known?.uid === pod.uid ? undefined : noAgent(pod).refusal;
}

/**
 * Decides whether the owner of a verified token may report as a pod. The first row that holds counts:
 *
 * | token | result |
 * |---|---|
 * | not bound to a pod | 403 |
 * | of another pod than the one in the URL | 403 |
 * | of a ServiceAccount that is not listed | 403 |
 * | the pods of agents are not read yet | 503 |
 * | of a pod that is no agent, or of an earlier pod of the same name | 403 |
 * | names a node | the reporter, on this node |
 * | names none (before Kubernetes 1.32), the pod has a node | the reporter, on the node of the pod |
 * | names none, the pod has none | 403 |
 *
 * @param name the pod in the URL
 */
export function decideReporter(
  identity: Identity,
  name: string,
  known: PodLookup,
  { serviceAccounts }: Rules,
): { reporter: Reporter } | { refusal: Refusal } {
  if ('unbound' in identity) {
    return forbidden(`the token of ${identity.unbound}: must be bound to the pod ${name}`);
  }
  const { namespace, serviceAccount, pod, podUid } = identity;
  const account = `${namespace}/${serviceAccount}`;
  if (pod !== name) return forbidden(`podname is ${name}: must be ${pod}, the pod of the token`);
  if (serviceAccounts.length > 0 && !serviceAccounts.includes(account)) {
    return forbidden(`the ServiceAccount is ${account}: must be one of ${serviceAccounts.join(', ')}`);
  }
  if (known === 'unread') return { refusal: UNREAD };
  if (known?.uid !== podUid) return noAgent({ namespace, name: pod });
  const node = identity.node ?? known.node;
  return node === undefined
    ? forbidden(`podname is ${pod}: must be a pod that runs on a node`)
    : { reporter: { namespace, pod, node } };
}

/**
 * Refuses the name of several agents. Reports are kept, stored and read by the name of the pod, as by the original server;
 * so one agent would report as the other.
 *
 * @param namespaces of the pods of agents that have the name
 */
export function refuseNamesakes(name: string, namespaces: readonly string[]): Refusal | undefined {
  if (namespaces.length < 2) return undefined;
  const [first, second] = [...namespaces].sort();
  return forbidden(`podname is ${name}: must be the name of one agent, and there is one in ${first} and in ${second}`)
    .refusal;
}

/** Refuses a report about another node than the reporter's. A report may leave its node out. */
export function refuseNode(nodename: string, { pod, node }: Reporter): Refusal | undefined {
  if (nodename === '' || nodename === node) return undefined;
  return { status: 403, text: `nodename is ${nodename}: must be ${node}, the node of the pod ${pod}\n` };
}

const UNREAD: Refusal = { status: 503, text: 'the pods of the agents are not read yet\n' };

function noAgent({ namespace, name }: { readonly namespace: string; readonly name: string }): { refusal: Refusal } {
  return forbidden(`podname is ${name}: must be a pod of an agent in ${namespace}`);
}

function forbidden(text: string): { refusal: Refusal } {
  return { refusal: { status: 403, text: `${text}\n` } };
}

/** Longest part of a wrong name that is repeated. */
const SHOWN_CHARACTERS = 100;

/**
 * Checks the name of an agent in a URL. A name is neither looked up nor kept before this check.
 *
 * @returns what is wrong; undefined for the valid name of a pod
 */
export function nameProblem(name: string): string | undefined {
  const { success, error } = reportSchema.shape.podname.safeParse(name);
  if (success) return undefined;
  const shown = name.length > SHOWN_CHARACTERS ? `${name.slice(0, SHOWN_CHARACTERS)}…` : name;
  return `the agent in the URL is ${JSON.stringify(shown)}: ${error.issues[0]?.message ?? 'must be the name of a pod'}`;
}
