import { WeightReason as Reason } from '../../../api/trafficweight/reasons.ts';
import {
  MOST_EXPLAINED,
  type HostExplanation,
  type TrafficWeightSpec,
} from '../../../api/trafficweight/trafficWeight.ts';
import { REFUSED_REASONS, type HostReason } from '../../../api/trafficweight/terms.ts';
import { type Condition, cut } from '../../../runtime/controller/conditions.ts';
import { isObserved, type PlannedSource } from '../../../weights/plan/plan.ts';
import type { RampStep } from '../../../weights/ramp/ramp.ts';
import { isWithin } from '../../../weights/records/domain.ts';
import type { ZoneDifference } from '../../../weights/zone/differences.ts';
import { MOST_HOSTS } from '../../../weights/records/dnsEndpoint.ts';
import { weightIn, type DnsEndpoint } from '../../../weights/records/endpoint.ts';
import { endpointKeyOf, INGRESS, nameOfSource } from '../../../weights/records/source.ts';
import { calculationOf } from '../../../weights/records/weight.ts';
import type { Candidate } from '../observe/observation.ts';
import { createSelector } from './divide.ts';

/** Reasons of a host whose Ingress is not accepted. */
export const REFUSED: ReadonlySet<HostReason> = new Set(REFUSED_REASONS);

const NO_ADDRESS = 'the load balancer has no address yet';
const LOST_ADDRESS = 'the load balancer has no address; the last one stays';

/** Characters of the message about one host: it may quote names of Services. */
const LONGEST_MESSAGE = 512;

/** Explains the weights of a source's hosts. @param step the step whose weight the records got */
export function explain(
  { source, hosts, desired, foreign, hasLostAddress }: PlannedSource,
  step: RampStep,
): HostExplanation[] {
  const key = `${source.namespace}/${source.name}`;
  const of = source.kind === INGRESS ? { ingress: key } : { httpRoute: key };
  const rampNote = step.state === undefined ? '' : ` (ramp to ${step.state.target})`;
  return hosts.map(({ host, weight, reason, factors, problem }) => {
    if (foreign !== undefined) return { host, ...of, reason: 'ForeignDNSEndpoint', ...messageOf(foreign) };
    if (weight === undefined) return { host, ...of, reason, ...messageOf(problem) };
    if (desired === undefined) return { host, ...of, reason: 'NoAddress', ...messageOf(NO_ADDRESS) };
    const calculation = factors && calculationOf(factors, rampNote);
    const message = messageOf(problem, hasLostAddress ? LOST_ADDRESS : undefined);
    return { host, ...of, weight, ...(calculation !== undefined && { calculation }), reason, ...message };
  });
}

function messageOf(...problems: (string | undefined)[]): Pick<HostExplanation, 'message'> {
  const all = problems.filter((problem) => problem !== undefined);
  return all.length === 0 ? {} : { message: cut(all.join('; '), LONGEST_MESSAGE) };
}

/** A host, and its weight that external-dns has read; undefined if that is not known. */
export interface ReportedHost extends HostExplanation {
  readonly currentWeight: number | undefined;
}

/**
 * @param explained the hosts of each source
 * @param endpoints as they are now, by `namespace/name`
 */
export function withCurrent(
  explained: readonly (readonly [Pick<PlannedSource, 'source'>, readonly HostExplanation[]])[],
  endpoints: ReadonlyMap<string, DnsEndpoint | undefined>,
): ReportedHost[] {
  return explained.flatMap(([{ source }, hosts]) => {
    const endpoint = endpoints.get(endpointKeyOf(source));
    const isKnown = endpoint !== undefined && isObserved(endpoint);
    return hosts.map((one) => ({ ...one, currentWeight: isKnown ? weightIn(endpoint, one.host) : undefined }));
  });
}

/** Returns the hosts with a message about each difference from the hosted zones, or about a mark of external-dns. */
export function withDifferences(
  hosts: readonly HostExplanation[],
  differences: readonly ZoneDifference[],
): readonly HostExplanation[] {
  if (differences.length === 0) return hosts;
  const hows = new Map(differences.map(({ host, how }) => [host, how]));
  return hosts.map((one) => {
    const how = one.weight === undefined ? undefined : hows.get(one.host);
    return how === undefined ? one : { ...one, ...messageOf(one.message, how) };
  });
}

/** Returns the name of a host's source for messages. */
export function sourceName({ ingress, httpRoute }: Pick<HostExplanation, 'ingress' | 'httpRoute'>): string {
  return ingress ?? `HTTPRoute ${httpRoute}`;
}

/**
 * Reasons of a host that another object has. Anyone who may create objects in a namespace can cause thousands of them, so they come
 * after the other problems.
 */
const ELSEWHERE: readonly HostReason[] = ['Conflict', 'OtherNamespace'];

function rankOf({ message, reason }: HostExplanation): number {
  return message === undefined ? ELSEWHERE.length + 1 : ELSEWHERE.indexOf(reason) + 1;
}

/** The hosts that the status explains: first those with a problem, then by name. */
export function explained(hosts: readonly HostExplanation[]): HostExplanation[] {
  const ordered = [...hosts].sort(
    (a, b) =>
      rankOf(a) - rankOf(b) || a.host.localeCompare(b.host, 'en') || sourceName(a).localeCompare(sourceName(b), 'en'),
  );
  return ordered.slice(0, MOST_EXPLAINED);
}

/** The hosts of the sources of a TrafficWeight, and how many sources there are. */
interface Decided {
  readonly hosts: readonly HostExplanation[];
  readonly ingresses: number;
  /** The namespace of each source that is left out, once for each source: see Candidate.isBeyond. */
  readonly beyond: readonly string[];
  /** See waitingOf(). */
  readonly waiting?: readonly string[];
  /** Hosts that external-dns may not be able to mark. */
  readonly unmarkable?: readonly ZoneDifference[];
}

/** Returns the routes that a TrafficWeight selects, or may select, and that a Gateway has neither accepted nor refused, for users. */
export function waitingOf(candidates: readonly Candidate[], spec: TrafficWeightSpec): string[] {
  const selects = createSelector(spec);
  const mayServe = ({ hostnames }: NonNullable<Candidate['open']>): boolean =>
    hostnames.length === 0 || hostnames.some((host) => isWithin(host, spec.bindingDomain ?? ''));
  return candidates
    .filter((each) => each.open !== undefined && mayServe(each.open) && !each.isBeyond && selects(each) !== false)
    .map(({ source, open }) => `${nameOfSource(source)}: ${open?.why}`)
    .sort();
}

/**
 * Returns the condition IngressesAccepted. The length of its message is bounded: it counts the objects that are not accepted, the
 * routes that do not count, and those that wait for a Gateway, and names the first of each.
 */
export function acceptedState({
  hosts,
  ingresses,
  beyond,
  waiting,
  unmarkable = [],
}: Decided): Pick<Condition, 'status' | 'reason' | 'message'> {
  const refused = hosts.filter(({ reason }) => REFUSED.has(reason));
  const [first] = refused;
  const elsewhere = `${leftOut(beyond)}${withoutVerdict(waiting)}${ofOtherNamespaces(hosts)}${withoutMark(unmarkable)}`;
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
    `than 8 MiB, or more than the share of the namespace of the memory of the operator, or one has more than ${MOST_HOSTS.toLocaleString('en')} hosts or cannot be read, or HTTPRoutes without host names take too many hosts from listeners. Their records are unchanged. Remove objects there, or make them smaller.`
  );
}

/** Returns a sentence about the hosts that external-dns may not be able to mark; empty without any. */
function withoutMark(unmarkable: readonly ZoneDifference[]): string {
  const [first] = unmarkable;
  if (first === undefined) return '';
  return ` Hosts whose weight external-dns may not change: ${unmarkable.length}, the first ${first.host}: ${first.how}`;
}

/** Returns a sentence with the number of routes that do not count for the weight of their hosts, and the first; empty without any. */
function ofOtherNamespaces(hosts: readonly HostExplanation[]): string {
  const left = hosts.filter(({ reason }) => reason === 'OtherNamespace');
  const [first] = left;
  if (first === undefined) return '';
  const count = new Set(left.map(sourceName)).size;
  return ` Ingresses and HTTPRoutes that do not count for the weight of a host: ${count}, the first ${sourceName(first)}: ${first.message ?? ''}`;
}

/** Returns a sentence with the number of routes that wait for a Gateway, and the first; empty without any. */
function withoutVerdict(waiting: readonly string[] = []): string {
  const [first] = waiting;
  if (first === undefined) return '';
  return ` HTTPRoutes that wait for a Gateway: ${waiting.length}, the first ${first}. Their hosts with records keep them. Check the controller of the Gateway, or correct parentRefs.`;
}
