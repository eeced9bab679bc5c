import { WeightReason as Reason } from '../../../api/trafficweight/reasons.ts';
import type { HostExplanation } from '../../../api/trafficweight/trafficWeight.ts';
import type { Condition } from '../../../runtime/controller/conditions.ts';
import { MOST_HOSTS } from '../../../weights/records/dnsEndpoint.ts';
import { REFUSED, sourceName } from './hosts.ts';

/** The hosts of the sources of a TrafficWeight, and how many sources there are. */
export interface Decided {
  readonly hosts: readonly HostExplanation[];
  readonly ingresses: number;
  /** The namespace of each source that is left out, once for each source: see Candidate.isBeyond. */
  readonly beyond: readonly string[];
}

/**
 * Returns the condition IngressesAccepted. The length of its message is bounded: it counts the objects that are not accepted, and
 * the routes that do not count, and names the first of each.
 */
export function acceptedState({ hosts, ingresses, beyond }: Decided): Pick<Condition, 'status' | 'reason' | 'message'> {
  const refused = hosts.filter(({ reason }) => REFUSED.has(reason));
  const [first] = refused;
  const elsewhere = `${leftOut(beyond)}${ofOtherNamespaces(hosts)}`;
  if (first === undefined && beyond.length > 0) {
    const message = `${ingresses} Ingresses and HTTPRoutes are accepted.${elsewhere}`;
    return { status: 'False', reason: Reason.NamespaceTooLarge, message };
  }
  if (first === undefined) {
    return {
      status: 'True',
      reason: Reason.AllAccepted,
      message: `All Ingresses and HTTPRoutes are accepted: ${ingresses}.${elsewhere}`,
    };
  }
  const count = new Set(refused.map(sourceName)).size;
  const message = `${count} of ${ingresses} Ingresses and HTTPRoutes are not accepted, the first ${sourceName(first)}: ${first.message ?? ''}`;
  return { status: 'False', reason: first.reason, message: `${message}${elsewhere && `.${elsewhere}`}` };
}

/** Namespaces that a message names. */
const MOST_NAMED = 3;

/** Returns a sentence about the sources that are left out; empty without any. */
function leftOut(beyond: readonly string[]): string {
  if (beyond.length === 0) return '';
  const namespaces = [...new Set(beyond)].sort();
  const more = namespaces.length > MOST_NAMED ? ', ...' : '';
  const named = `${namespaces.slice(0, MOST_NAMED).join(', ')}${more}`;
  return (
    ` Left out: ${beyond.length} Ingresses and HTTPRoutes of the namespaces ${named}, since the Ingresses, HTTPRoutes or DNSEndpoints there take more ` +
    `than 8 MiB, or one has more than ${MOST_HOSTS.toLocaleString('en')} hosts. Their records are unchanged. Remove objects there, or make them smaller.`
  );
}

/** Returns a sentence with the number of routes that do not count for the weight of their hosts, and the first; empty without any. */
function ofOtherNamespaces(hosts: readonly HostExplanation[]): string {
  const left = hosts.filter(({ reason }) => reason === 'OtherNamespace');
  const [first] = left;
  if (first === undefined) return '';
  const count = new Set(left.map(sourceName)).size;
  return ` HTTPRoutes that do not count for the weight of a host: ${count}, the first ${sourceName(first)}: ${first.message ?? ''}`;
}
