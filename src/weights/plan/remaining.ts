import { createHash } from 'node:crypto';
import { apiVersionOf, keyOf } from '../../runtime/client/resource.ts';
import { hasController } from '../records/dnsEndpoint.ts';
import {
  atMost,
  DNS_ENDPOINTS,
  hostsIn,
  KEPT_ANNOTATION,
  recordWeight,
  type DnsEndpoint,
  type Endpoint,
} from '../records/endpoint.ts';

/** A DNSEndpoint of this owner that no source plans, and that is not removed. */
export interface Remaining {
  /** `namespace/name` */
  readonly key: string;
  readonly live: DnsEndpoint;
  /** The DNSEndpoint to apply, with lower weights; undefined if no weight is too high. */
  readonly desired: DnsEndpoint | undefined;
  /** Whether its Ingress or HTTPRoute was deleted without it. */
  readonly isOrphan: boolean;
}

/** Returns a DNSEndpoint that nothing plans, and what is applied so that no weight is above `most`. @param labels its label with the owner */
export function remainingOf(live: DnsEndpoint, labels: Record<string, string>, most: number): Remaining {
  const isHigher = live.spec?.endpoints?.some((record) => (recordWeight(record) ?? most) > most);
  const desired = isHigher === true ? lowered(live, labels, most) : undefined;
  return { key: keyOf(live), live, desired, isOrphan: !hasController(live) };
}

function lowered({ metadata, spec }: DnsEndpoint, labels: Record<string, string>, most: number): DnsEndpoint {
  const { name, namespace, annotations, ownerReferences = [] } = metadata ?? {};
  const kept = annotations?.[KEPT_ANNOTATION];
  return {
    apiVersion: apiVersionOf(DNS_ENDPOINTS),
    kind: DNS_ENDPOINTS.kind,
    metadata: {
      ...{ name, namespace, labels },
      ...(kept !== undefined && { annotations: { [KEPT_ANNOTATION]: kept } }),
      // With the heir, to which the garbage collector leaves the records.
      ...(ownerReferences.length > 0 && {
        ownerReferences: ownerReferences.map(({ apiVersion, kind, name: of, uid, controller }) => ({
          ...{ apiVersion, kind, name: of, uid, ...(controller === true && { controller }) },
        })),
      }),
    },
    spec: { endpoints: (spec?.endpoints ?? []).map((record) => atMost(record, most)) },
  };
}

/** Hosts that would lose their records since no owner selects them any longer. */
export interface Removal {
  /** Sorted. */
  readonly hosts: readonly string[];
  /** The hosts with records before, of all namespaces. */
  readonly of: number;
  /** The value of spec.allowRemoval that confirms all of it. */
  readonly confirm: string;
  /** The value for each of its namespaces. */
  readonly namespaces: ReadonlyMap<string, string>;
  /** Whether no weight is in force meanwhile: see holdsWeight(). */
  readonly holdsWeight: boolean;
}

/** The value of spec.allowRemoval that confirms every removal. */
export const ANY_REMOVAL = 'Any';
/** A removal of more hosts, and of a larger share of the hosts, needs a confirmation; of namespaces likewise, and then it holds the weight. */
const FREE_COUNT = 1;
const FREE_SHARE = 0.25;
/** How long hosts that lost their records without a confirmation count together: ms. */
const TOGETHER_MS = 3_600_000;
/** Hexadecimal digits of a confirmation. */
const CONFIRM_DIGITS = 16;

/** Hosts, and the namespace of each. */
export type HostNamespaces = ReadonlyMap<string, string>;

/** The decisions of earlier plans about removals. */
export interface Removals {
  /** The hosts whose removal is confirmed, and has not ended. */
  readonly confirmed: ReadonlySet<string>;
  /** The namespaces whose hosts wait for a confirmation. */
  readonly waiting: Pick<ReadonlySet<string>, 'has'>;
  /** The hosts that lost their records without a confirmation, and when: ms since 1970. */
  readonly freed: ReadonlyMap<string, { readonly namespace: string; readonly at: number }>;
}

export const NO_REMOVALS: Removals = { confirmed: new Set(), waiting: new Set(), freed: new Map() };
/** For the first plan of a process, if a removal may wait since before: which namespaces wait is not stored, so all that lose hosts do. */
export const UNKNOWN_REMOVALS: Removals = { ...NO_REMOVALS, waiting: { has: () => true } };

/** The confirmation of removals. */
export interface Confirmation {
  /** spec.allowRemoval */
  readonly allowed: string | undefined;
  readonly before: Removals;
  /** ms since 1970. */
  readonly now: number;
}

/**
 * Decides which hosts may lose their records, by namespace: neither the removal of one namespace nor its confirmation is about another.
 *
 * | the hosts of a namespace                                        | lose their records | remembered as |
 * |-----------------------------------------------------------------|--------------------|---------------|
 * | have the confirmation, or it is Any                             | yes                | confirmed     |
 * | are the rest of a removal that was confirmed: it takes rounds   | yes                | confirmed     |
 * | wait, and the value for all that wait is given                  | yes                | confirmed     |
 * | wait since an earlier plan                                      | no                 | waiting       |
 * | began together with too many others                             | no                 | waiting       |
 * | anything else                                                   | yes                | freed         |
 *
 * Too many are more than one host, and more than a quarter of the hosts; or more than one namespace, and more than a quarter of the namespaces, that
 * lose more than a quarter of their hosts: a user may make any number of hosts. What was lost without a confirmation within an hour counts
 * with them, so that many small removals are not unnoticed.
 *
 * @param published returns the hosts with records
 * @returns the removal that waits, if any, and the state for the next plan
 */
export function decideRemoval(
  lost: HostNamespaces,
  published: () => HostNamespaces,
  { allowed = '', before, now }: Confirmation,
): { readonly waits?: Removal; readonly removals: Removals } {
  const freed = new Map([...before.freed].filter(([, { at }]) => now - at < TOGETHER_MS));
  if (lost.size === 0) return { removals: { ...NO_REMOVALS, freed } };
  const values = new Set(allowed.split(','));
  const { open, confirmed } = judgedLosses(lost, values, before);
  const had = open.length === 0 ? lost : published();
  const fresh = open.filter(({ namespace }) => !before.waiting.has(namespace)).flatMap(placed);
  const isFree = !isTooMuch(fresh, { freed, had });
  const unconfirmed = open.filter((each) => before.waiting.has(each.namespace) || !isFree);
  const confirm = valueOfAll(unconfirmed);
  const areConfirmed = values.has(confirm);
  const waits = areConfirmed ? [] : unconfirmed;
  const removals = {
    freed: isFree ? withFreed(freed, fresh, now) : freed,
    waiting: new Set(waits.map(({ namespace }) => namespace)),
    confirmed: hostsOf(areConfirmed ? [...confirmed, ...unconfirmed] : confirmed),
  };
  return waits.length === 0 ? { removals } : { waits: removalOf(waits, had, confirm), removals };
}

/** Divides what is lost by namespace: confirmed, alone or as the rest of a removal, or open. @param values of spec.allowRemoval */
function judgedLosses(lost: HostNamespaces, values: ReadonlySet<string>, before: Removals) {
  const losses = hostsBy(lost).map(([namespace, hosts]): Loss => ({
    namespace,
    hosts,
    value: hashOf([namespace, ...hosts]),
  }));
  const isConfirmed = ({ hosts, value }: Loss): boolean =>
    values.has(ANY_REMOVAL) || values.has(value) || hosts.every((host) => before.confirmed.has(host));
  return {
    open: losses.filter((each) => !isConfirmed(each)),
    confirmed: losses.filter(isConfirmed),
  };
}

/** Returns the value of spec.allowRemoval that confirms all of these losses. */
function valueOfAll(losses: readonly Loss[]): string {
  const [one, ...others] = losses.map(({ value }) => value);
  return one !== undefined && others.length === 0 ? one : hashOf([one ?? '', ...others]);
}

/** @param waits what waits. @param had the hosts with records before, of all namespaces */
function removalOf(waits: readonly Loss[], had: HostNamespaces, confirm: string): Removal {
  const namespaces = new Map(waits.map(({ namespace, value }) => [namespace, value]));
  const all = new Set(had.values()).size;
  return {
    ...{ hosts: [...hostsOf(waits)].sort(), of: had.size, confirm, namespaces },
    holdsWeight: holdsWeight(namespaces.size, all),
  };
}

/**
 * Decides whether a removal that waits keeps the weight of the cluster from being in force and acknowledged. A user of one namespace must not do
 * this with hosts of their own; a mistake that affects the whole cluster must.
 *
 * | namespaces that wait                              | the weight of the others     |
 * |---------------------------------------------------|------------------------------|
 * | all with records: nothing else has the weight     | is held                      |
 * | more than one, and more than a quarter of them    | is held                      |
 * | fewer                                             | counts, and is acknowledged  |
 *
 * @param of the namespaces with records
 */
function holdsWeight(waiting: number, of: number): boolean {
  return waiting >= of || isMany(waiting, of);
}

/** @param fresh the hosts that lose their records without a confirmation. @param now ms since 1970 */
function withFreed(freed: Removals['freed'], fresh: readonly PlacedHost[], now: number): Removals['freed'] {
  return new Map([...freed, ...fresh.map(([host, namespace]) => [host, { namespace, at: now }] as const)]);
}

/** The losses of a namespace. */
interface Loss {
  readonly namespace: string;
  /** Sorted. */
  readonly hosts: readonly string[];
  /** The value of spec.allowRemoval that confirms it. */
  readonly value: string;
}

type PlacedHost = readonly [host: string, namespace: string];

function placed({ namespace, hosts }: Loss): PlacedHost[] {
  return hosts.map((host) => [host, namespace]);
}

function hostsOf(losses: readonly Loss[]): Set<string> {
  return new Set(losses.flatMap(({ hosts }) => hosts));
}

/** Returns the sorted hosts of each namespace, the namespaces sorted. */
function hostsBy(hosts: HostNamespaces): [namespace: string, hosts: string[]][] {
  const byNamespace = Map.groupBy([...hosts.keys()].sort(), (host) => hosts.get(host) ?? '');
  return [...byNamespace].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** @param fresh what begins to be lost; it counts with `freed`. @param earlier.had the hosts with records now */
function isTooMuch(
  fresh: readonly PlacedHost[],
  earlier: { readonly freed: Removals['freed']; readonly had: HostNamespaces },
): boolean {
  const lost = new Map([...[...earlier.freed].map(([host, { namespace }]): PlacedHost => [host, namespace]), ...fresh]);
  const had = new Map([...earlier.had, ...lost]);
  const all = new Map(hostsBy(had));
  const emptied = hostsBy(lost).filter(([name, hosts]) => hosts.length > FREE_SHARE * (all.get(name)?.length ?? 0));
  return isMany(lost.size, had.size) || isMany(emptied.length, all.size);
}

function isMany(count: number, of: number): boolean {
  return count > FREE_COUNT && count > FREE_SHARE * of;
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, CONFIRM_DIGITS);
}

/** Returns the records of a DNSEndpoint of these hosts, with no weight above `most`. */
export function recordsAtMost(live: DnsEndpoint | undefined, hosts: readonly string[], most: number): Endpoint[] {
  const kept = new Set(hosts);
  const records = live?.spec?.endpoints ?? [];
  return records.filter((record) => hostsIn([record]).some((host) => kept.has(host))).map((r) => atMost(r, most));
}
