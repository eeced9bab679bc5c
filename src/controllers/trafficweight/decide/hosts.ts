import { MOST_EXPLAINED, type HostExplanation } from '../../../api/trafficweight/trafficWeight.ts';
import { REFUSED_REASONS, type HostReason } from '../../../api/trafficweight/terms.ts';
import { cut } from '../../../runtime/controller/conditions.ts';
import { isObserved, type PlannedSource } from '../../../weights/plan/plan.ts';
import { weightIn, type DnsEndpoint } from '../../../weights/records/endpoint.ts';
import { calculationOf } from '../../../weights/records/weight.ts';
import type { RampStep } from '../../../weights/ramp/ramp.ts';
import { endpointKeyOf, INGRESS } from '../../../weights/records/source.ts';

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
