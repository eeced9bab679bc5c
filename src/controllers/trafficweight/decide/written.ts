import { WeightReason as Reason } from '../../../api/trafficweight/reasons.ts';
import { firstOf, type Condition, type PlannedEvent } from '../../../runtime/controller/conditions.ts';
import { isObserved } from '../../../weights/plan/plan.ts';
import type { Removal, Removals } from '../../../weights/plan/removal.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import type { Outcome } from './outcome.ts';

type State = Pick<Condition, 'status' | 'reason' | 'message'>;

/** DNSEndpoints, hosts and namespaces that a message names. */
const MOST_NAMED = 3;
/** Namespaces whose confirmation a message has: more would not fit into it. */
const MOST_CONFIRMATIONS = 8;

/** Returns the condition Applied: see statusOf(). */
export function appliedState(outcome: Outcome): State {
  const { endpoints, failures, step, stale = [], left = 0, behind, unconfirmed, orphans = [] } = outcome;
  // The first one that failed differs from one reconcile to the next, and each change of the status begins another reconcile.
  const [first] = failures.map(({ message }) => message).sort();
  if (first === undefined && left > 0) {
    // Without the number, which differs in each round: each change of the status begins another reconcile.
    const message = `Some DNSEndpoints do not carry the weight ${step.weight} yet: namespaces take turns, or another client writes them. Wait for the next rounds of writes.`;
    const reason = behind?.others.left === 0 ? Reason.WriteFailed : Reason.NotAppliedYet;
    return { status: 'False', reason, message: `${message}${withoutThem(behind)}` };
  }
  if (first === undefined && unconfirmed?.holdsWeight === true) return removalState(unconfirmed);
  if (first === undefined && stale.length > 0) {
    const message = `${stale.length} DNSEndpoints cannot be written and may carry another weight than ${step.weight}: ${firstOf(stale, MOST_NAMED)}. See IngressesAccepted. A ramp does not wait for them.`;
    return { status: 'False', reason: Reason.WriteFailed, message };
  }
  if (first === undefined) {
    const deleted = `Without an Ingress or HTTPRoute, and with the weight 0: ${firstOf(orphans, MOST_NAMED)}. Delete them`;
    const note = `${orphans.length === 0 ? '' : ` ${deleted}`}${besides(unconfirmed)}`;
    const message = `All DNSEndpoints carry the weight ${step.weight} of the cluster: ${endpoints.size}.${note}`;
    return { status: 'True', reason: Reason.AllApplied, message };
  }
  const message = `Failed writes: ${failures.length}, the first: ${first}${withoutThem(behind, '.')}`;
  return { status: 'False', reason: Reason.WriteFailed, message };
}

/** Returns the condition RemovalsConfirmed. */
export function removalState({ hosts, of, confirm, namespaces }: Removal): State {
  const values = [...namespaces].map(([namespace, { confirm: value }]) => `${namespace}: "${value}"`);
  const single =
    values.length === 1 ? '' : `; or single namespaces with their values: ${firstOf(values, MOST_CONFIRMATIONS)}`;
  const message =
    `${hosts.length} of ${of} hosts would lose their records, since nothing selects them any longer: ${firstOf(hosts, MOST_NAMED)}; ` +
    `${ofThe(namespaces)}. They keep them. Correct the spec, the classes or the labels, or confirm it with spec.allowRemoval: "${confirm}"${single}`;
  return { status: 'False', reason: Reason.RemovalNotConfirmed, message };
}

function ofThe(namespaces: Removal['namespaces']): string {
  return `${namespaces.size === 1 ? 'namespace' : 'namespaces'} ${firstOf([...namespaces.keys()], MOST_NAMED)}`;
}

/** Returns an event about the namespaces whose removal begins to wait: the condition may be False because of others. @param before of the last plan */
export function removalEvents(unconfirmed: Removal | undefined, before: Pick<Removals, 'waiting'>): PlannedEvent[] {
  const began = [...(unconfirmed?.namespaces ?? [])].filter(([namespace]) => !before.waiting.has(namespace));
  if (began.length === 0) return [];
  const namespaces = new Map(began);
  const hosts = began.reduce((sum, [, each]) => sum + each.hosts, 0);
  const note = `${hosts} hosts of the ${ofThe(namespaces)} would lose their records, and keep them until that is confirmed: see the condition RemovalsConfirmed`;
  return [{ type: 'Warning', reason: Reason.RemovalNotConfirmed, note }];
}

/** Returns a sentence about the namespaces that keep other weights since their removal waits; empty without any. */
function besides(unconfirmed: Removal | undefined): string {
  if (unconfirmed === undefined) return '';
  const { hosts, namespaces } = unconfirmed;
  return ` Not counted: ${hosts.length} hosts of the ${ofThe(namespaces)}, with at most this weight. See RemovalsConfirmed.`;
}

/** Returns a sentence about the namespaces for which a ramp does not wait; empty without any. */
function withoutThem(behind: Outcome['behind'], end = ''): string {
  if (behind === undefined) return '';
  return `${end} A ramp no longer waits for the namespaces ${firstOf(behind.namespaces, MOST_NAMED)}, which are late for more than 10 minutes.`;
}

function notRead(endpoints: Outcome['endpoints']): [key: string, endpoint: DnsEndpoint | undefined][] {
  return [...endpoints].filter(([, endpoint]) => endpoint === undefined || !isObserved(endpoint));
}

/** Returns the condition Observed. */
export function observedState({ endpoints, behind }: Outcome): State {
  const late = notRead(endpoints);
  const [first] = late;
  if (first === undefined) {
    const message = `external-dns has read all DNSEndpoints: ${endpoints.size}.`;
    return { status: 'True', reason: Reason.AllObserved, message };
  }
  const message = `external-dns has not read ${late.length} of ${endpoints.size} DNSEndpoints as they are, the first ${first[0]}.${withoutThem(behind)}`;
  const areAllBehind = behind !== undefined && notRead(behind.others.endpoints).length === 0;
  return { status: 'False', reason: areAllBehind ? Reason.NotObserved : Reason.NotObservedYet, message };
}
