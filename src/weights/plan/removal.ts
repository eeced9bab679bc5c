import { createHash } from 'node:crypto';
import { isWithin } from '../records/domain.ts';
import { hostsIn, type DnsEndpoint } from '../records/endpoint.ts';
import type { WeightSettings } from '../records/records.ts';
import type { Source } from '../records/source.ts';
import { recordsAtMost } from './remaining.ts';

/** Hosts that would lose their records since no owner selects them any longer. */
export interface Removal {
  /** Sorted. */
  readonly hosts: readonly string[];
  /** The hosts with records before, of all namespaces. */
  readonly of: number;
  /** The value of spec.allowRemoval that confirms all of it. */
  readonly confirm: string;
  /** The hosts of each of its namespaces that wait, and the value that confirms them. */
  readonly namespaces: ReadonlyMap<string, NamespaceRemoval>;
  /** Whether no weight is in force meanwhile: see holdsWeight(). */
  readonly holdsWeight: boolean;
}

/** The part of a removal in one namespace. */
export interface NamespaceRemoval {
  /** How many hosts wait. */
  readonly hosts: number;
  /** The value of spec.allowRemoval that confirms it. */
  readonly confirm: string;
}

/** The value of spec.allowRemoval that confirms every removal. */
export const ANY_REMOVAL = 'Any';
/** A removal of more hosts of a namespace, and of a larger share of them, needs a confirmation; of namespaces likewise. */
const FREE_COUNT = 1;
const FREE_SHARE = 0.25;
/** How long hosts of a namespace that lost their records without a confirmation count together: ms. */
const TOGETHER_MS = 3_600_000;
/** Hexadecimal digits of a confirmation. */
const CONFIRM_DIGITS = 16;

/** The hosts of each namespace. */
export type NamespaceHosts = ReadonlyMap<string, ReadonlySet<string>>;

/** By namespace: the hosts that lost their records without a confirmation, and when: ms since 1970. */
type FreedHosts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** The decisions of earlier plans about removals. */
export interface Removals {
  /** The hosts whose removal is confirmed, and has not ended. */
  readonly confirmed: NamespaceHosts;
  /** The namespaces whose hosts wait for a confirmation. */
  readonly waiting: Pick<ReadonlySet<string>, 'has'>;
  readonly freed: FreedHosts;
}

export const NO_REMOVALS: Removals = { confirmed: new Map(), waiting: new Set(), freed: new Map() };
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
 * | are too many of the namespace: see isTooMuch()                  | no                 | waiting       |
 * | are lost at once with hosts of many namespaces: see isOfMany()  | no                 | waiting       |
 * | anything else                                                   | yes                | freed         |
 *
 * @param published returns the hosts with records
 * @returns the removal that waits, if any, and the state for the next plan
 */
export function decideRemoval(
  lost: NamespaceHosts,
  published: () => NamespaceHosts,
  { allowed = '', before, now }: Confirmation,
): { readonly waits?: Removal; readonly removals: Removals } {
  const freed = freedSince(before.freed, now - TOGETHER_MS);
  if (lost.size === 0) return { removals: { ...NO_REMOVALS, freed } };
  const values = new Set(allowed.split(','));
  const { open, confirmed } = judgedLosses(lost, values, before);
  const had = open.length === 0 ? lost : published();
  const fresh = open.filter(({ namespace }) => !before.waiting.has(namespace));
  const areOfMany = isOfMany(fresh, { freed, had });
  const free = fresh.filter((each) => !areOfMany && !isTooMuch(each, { freed, had }));
  const unconfirmed = open.filter((each) => !free.includes(each));
  const confirm = valueOfAll(unconfirmed);
  const areConfirmed = values.has(confirm);
  const waits = areConfirmed ? [] : unconfirmed;
  const removals = {
    freed: withFreed(freed, free, now),
    waiting: new Set(waits.map(({ namespace }) => namespace)),
    confirmed: hostsOf(areConfirmed ? [...confirmed, ...unconfirmed] : confirmed),
  };
  return waits.length === 0 ? { removals } : { waits: removalOf(waits, had, confirm), removals };
}

/** The losses of a namespace. */
interface Loss {
  readonly namespace: string;
  /** Sorted. */
  readonly hosts: readonly string[];
  /** The value of spec.allowRemoval that confirms it. */
  readonly value: string;
}

/** Divides what is lost by namespace: confirmed, alone or as the rest of a removal, or open. @param values of spec.allowRemoval */
function judgedLosses(lost: NamespaceHosts, values: ReadonlySet<string>, before: Removals) {
  const losses = [...lost]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([namespace, all]): Loss => {
      const hosts = [...all].sort();
      return { namespace, hosts, value: hashOf([namespace, ...hosts]) };
    });
  const isConfirmed = ({ namespace, hosts, value }: Loss): boolean => {
    const rest = before.confirmed.get(namespace);
    return values.has(ANY_REMOVAL) || values.has(value) || hosts.every((host) => rest?.has(host) === true);
  };
  return { open: losses.filter((each) => !isConfirmed(each)), confirmed: losses.filter(isConfirmed) };
}

/** The hosts that were lost before, and the hosts that there are. */
interface Known {
  /** The hosts that lost their records in the last hour. */
  readonly freed: FreedHosts;
  /** The hosts with records now. */
  readonly had: NamespaceHosts;
}

/**
 * Returns whether a namespace would lose more than one host, and more than a quarter of its hosts, together with its losses of the last hour: many small
 * removals must not be unnoticed. Other namespaces do not count, or a user could make the removals of others wait, or make a share small with many hosts.
 */
function isTooMuch({ namespace, hosts }: Loss, { freed, had }: Known): boolean {
  const lost = new Set([...hosts, ...(freed.get(namespace)?.keys() ?? [])]);
  return isMany(lost.size, new Set([...(had.get(namespace) ?? []), ...lost]).size);
}

/**
 * Returns whether more than one namespace, and more than a quarter of them, would lose more than a quarter of their hosts in one plan: then the spec is
 * the likely cause. A namespace that lost hosts in the last hour does not count, since a user could take the hosts of a namespace out again and again.
 */
function isOfMany(fresh: readonly Loss[], { freed, had }: Known): boolean {
  const emptied = fresh.filter(({ namespace, hosts }) => {
    const all = new Set([...(had.get(namespace) ?? []), ...hosts]).size;
    return !freed.has(namespace) && hosts.length > FREE_SHARE * all;
  });
  return isMany(emptied.length, had.size);
}

function isMany(count: number, of: number): boolean {
  return count > FREE_COUNT && count > FREE_SHARE * of;
}

/** @param since ms since 1970 */
function freedSince(freed: FreedHosts, since: number): FreedHosts {
  const recent = [...freed].map(([namespace, hosts]) => {
    return [namespace, new Map([...hosts].filter(([, at]) => at > since))] as const;
  });
  return new Map(recent.filter(([, hosts]) => hosts.size > 0));
}

/** @param free the losses without a confirmation. @param now ms since 1970 */
function withFreed(freed: FreedHosts, free: readonly Loss[], now: number): FreedHosts {
  const added = free.map(({ namespace, hosts }) => {
    const at = hosts.map((host) => [host, now] as const);
    return [namespace, new Map([...(freed.get(namespace) ?? []), ...at])] as const;
  });
  return new Map([...freed, ...added]);
}

/** Returns the value of spec.allowRemoval that confirms all of these losses. */
function valueOfAll(losses: readonly Loss[]): string {
  const [one, ...others] = losses.map(({ value }) => value);
  return one !== undefined && others.length === 0 ? one : hashOf([one ?? '', ...others]);
}

/** @param waits what waits. @param had the hosts with records before */
function removalOf(waits: readonly Loss[], had: NamespaceHosts, confirm: string): Removal {
  const parts = waits.map(
    ({ namespace, hosts, value }) => [namespace, { hosts: hosts.length, confirm: value }] as const,
  );
  return {
    hosts: [...new Set(waits.flatMap(({ hosts }) => hosts))].sort(),
    of: new Set([...had.values()].flatMap((hosts) => [...hosts])).size,
    ...{ confirm, namespaces: new Map(parts), holdsWeight: holdsWeight(waits.length, had.size) },
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

function hostsOf(losses: readonly Loss[]): NamespaceHosts {
  return new Map(losses.map(({ namespace, hosts }) => [namespace, new Set(hosts)]));
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, CONFIRM_DIGITS);
}

/** The parts of a planned source that decide what it loses. */
interface Planned {
  readonly source: Source;
  /** The DNSEndpoint to apply; undefined without records. */
  readonly desired: DnsEndpoint | undefined;
  readonly live: DnsEndpoint | undefined;
  /** Why the operator does not touch `live`. */
  readonly foreign?: string;
}

/**
 * Returns the hosts that would lose their records since nothing selects them any longer, and that no source plans.
 *
 * @param kept.unselected the DNSEndpoints of sources that nothing selects
 * @param kept.given the hosts with records in this plan
 */
export function lostHosts(
  planned: readonly Planned[],
  { unselected, given }: { readonly unselected: readonly DnsEndpoint[]; readonly given: ReadonlySet<string> },
  { bindingDomain }: WeightSettings,
): NamespaceHosts {
  const outside = planned.map((each) => ({
    namespace: each.source.namespace,
    hosts: outOfDomain(each, bindingDomain),
  }));
  const all = [...unselected.map(placedHosts), ...outside];
  return byNamespace(
    all.map(({ namespace, hosts }) => ({ namespace, hosts: hosts.filter((host) => !given.has(host)) })),
  );
}

/** Returns the hosts that have records now. @param own the DNSEndpoints of this owner */
export function publishedHosts(own: readonly DnsEndpoint[], planned: readonly Planned[]): NamespaceHosts {
  const live = planned.flatMap(({ live: each, foreign }) => (foreign === undefined && each !== undefined ? each : []));
  return byNamespace([...own, ...live].map(placedHosts));
}

/** Returns a planned source with the records that its hosts outside of the domain have now. */
export function withLost<T extends Planned>(planned: T, { bindingDomain, clusterWeight }: WeightSettings): T {
  const { desired, live } = planned;
  const records = recordsAtMost(live, outOfDomain(planned, bindingDomain), clusterWeight);
  if (desired === undefined || records.length === 0) return planned;
  return { ...planned, desired: { ...desired, spec: { endpoints: [...(desired.spec?.endpoints ?? []), ...records] } } };
}

/** Returns the hosts of a source that have records now, and lose them since the domain no longer contains them. */
function outOfDomain({ source, desired, live, foreign }: Planned, bindingDomain: string): string[] {
  if (desired === undefined || foreign !== undefined) return [];
  const asked = new Set(source.hosts.map(({ host }) => host));
  return hostsIn(live?.spec?.endpoints).filter((host) => asked.has(host) && !isWithin(host, bindingDomain));
}

interface PlacedHosts {
  readonly namespace: string;
  readonly hosts: readonly string[];
}

/** Returns the hosts of a DNSEndpoint. */
function placedHosts({ metadata, spec }: DnsEndpoint): PlacedHosts {
  return { namespace: metadata?.namespace ?? '', hosts: hostsIn(spec?.endpoints) };
}

function byNamespace(all: readonly PlacedHosts[]): NamespaceHosts {
  const hosts = new Map<string, Set<string>>();
  for (const each of all.filter((one) => one.hosts.length > 0)) {
    const known = hosts.get(each.namespace) ?? new Set();
    hosts.set(each.namespace, known);
    for (const host of each.hosts) known.add(host);
  }
  return hosts;
}
