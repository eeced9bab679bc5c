import type { NodeUsage } from './percent.ts';
import { DEFAULT_KEY } from './reading.ts';
import type { Unattributed } from '../series/seriesDecoder.ts';

const NO_FIGURES: ReadonlyMap<string, NodeUsage> = new Map();

/** Why a pass did not evaluate a reading. */
export type Unread = 'NotAsked' | 'NoTime';

const WHY_UNREAD: Readonly<Record<Unread, string>> = {
  NotAsked: 'the pass did not evaluate this direction, measure, devices and capacity; the next one does',
  NoTime:
    'the pass had no time left for this direction, measure, devices and capacity: let TrafficWatches share them, and use simpler patterns in devices',
};

/** The results of a pass for one reading besides the default reading. */
export interface ReadingFigures {
  /** As `Snapshot.nodes`; empty if `error` or `hadNoTime` is set. */
  nodes: ReadonlyMap<string, NodeUsage>;
  /** Warnings in the answers that only this reading uses. */
  warnings: readonly string[];
  /** Why the rates of this reading could not be read. */
  error?: { reason: string; message: string } | undefined;
  /** Set if the pass had not enough time for this reading. */
  hadNoTime?: true;
}

/** The result of one pass. A snapshot does not change after it is published. */
export interface Snapshot {
  /** Number of the pass, from 1. */
  pass: number;
  /** Start of the pass by the operator's clock, milliseconds since 1970. */
  startedAt: number;
  /** Evaluation time of the Prometheus server, seconds since 1970. Absent if there was no sample. */
  timeSeconds?: number;
  /** True if Prometheus answered. If false, `error` says why not, and `nodes` is empty. */
  ok: boolean;
  error?: { reason: string; message: string };
  /** Warnings in the answers: the results may be partial. At most five per answer, shortened. */
  warnings: readonly string[];
  /** Infos in the answers about the queries, and a failed search for uplinks. At most five per answer, shortened. */
  infos?: readonly string[];
  /** All nodes that were known at the start of the pass, with or without a percent. */
  nodes: ReadonlyMap<string, NodeUsage>;
  /** The figures of other readings, by the key of the reading. Absent if there was no demand for any. See `asRead`. */
  readings?: ReadonlyMap<string, ReadingFigures>;
  /** Set by `asRead` if the pass did not evaluate the reading: nobody had asked for it, or there was no time. */
  unread?: Unread;
  /** Number of device series that belong to no known node. */
  unmatchedSeries: number;
  /** Number of device series whose `instance` is an address of several nodes. */
  ambiguousSeries: number;
  /** Labels of up to five unmatched series. */
  unmatchedExamples: readonly string[];
  /** Labels of up to five ambiguous series. */
  ambiguousExamples: readonly string[];
  /** Scrapes in the rate window. Absent until it is known. */
  samplesPerWindow?: number;
  /** How late samples reach Prometheus, seconds: see lagQuery. Absent until it is known. */
  lagSeconds?: number;
  /** Nodes whose samples are late by LATE_SECONDS at least. Absent until they are known. */
  lateNodes?: ReadonlySet<string>;
  /** Set while passes take most of their deadline, at which they fail. */
  isSlow?: true;
}

/**
 * Report the clock offset from this value on. Rates and deadlines tolerate far more, but the offset misleads people who
 * compare logs.
 */
const TELLING_OFFSET_SECONDS = 60;

/**
 * Offset of the Prometheus server's clock from the operator's clock, in whole minutes; negative if the server is
 * behind. Undefined if the offset is below one minute or unknown. No decision depends on it.
 */
export function clockOffsetMinutes({ startedAt, timeSeconds }: Snapshot): number | undefined {
  if (timeSeconds === undefined) return undefined;
  const seconds = timeSeconds - startedAt / 1000;
  return Math.abs(seconds) < TELLING_OFFSET_SECONDS ? undefined : Math.round(seconds / 60);
}

/** How late samples reach Prometheus. */
export type Lag = Pick<Snapshot, 'lagSeconds' | 'lateNodes'>;

/** Samples that are later are reported, seconds. */
export const LATE_SECONDS = 30;
/** The lags that messages report: seconds. Few, so that similar lags have the same text. */
const REPORTED_LAGS = [240, 120, 60, LATE_SECONDS];

/** The highest of REPORTED_LAGS that the lag reaches. Undefined if samples come in time, or the lag is not known. */
export function tellingLag({ lagSeconds = 0 }: Pick<Snapshot, 'lagSeconds'>): number | undefined {
  return REPORTED_LAGS.find((seconds) => lagSeconds >= seconds);
}

/** Below 4 samples, one missed scrape leaves a rate of two samples or none. */
export const LEAST_SAMPLES_PER_WINDOW = 4;

/** True if the window is known to have too few scrapes for a reliable rate. */
export function windowIsTooShort(snapshot: Pick<Snapshot, 'samplesPerWindow'>): boolean {
  return snapshot.samplesPerWindow !== undefined && snapshot.samplesPerWindow < LEAST_SAMPLES_PER_WINDOW;
}

/**
 * A pass as its reading shows it.
 *
 * | pass      | reading                          | result                                          |
 * |-----------|----------------------------------|-------------------------------------------------|
 * | any       | the default                      | the pass itself                                 |
 * | failed    | any                              | the pass itself: no figures                     |
 * | succeeded | evaluated                        | its figures, with the warnings of its own answers |
 * | succeeded | its rates could not be read      | a failed pass, with that error                  |
 * | succeeded | not evaluated, since nobody asked for it then | every node without a figure: NotEvaluated |
 * | succeeded | there was no time for it         | the same, with another message                  |
 *
 * @param key of readingKey
 */
export function asRead(pass: Snapshot, key: string): Snapshot {
  if (key === DEFAULT_KEY || !pass.ok) return pass;
  const unread = unreadOf(pass, key);
  if (unread !== undefined) return { ...pass, nodes: nodesWithout(pass, unread), unread };
  const { nodes = NO_FIGURES, warnings = [], error } = pass.readings?.get(key) ?? {};
  if (error !== undefined) return { ...pass, ok: false, error, nodes: NO_FIGURES };
  return { ...pass, nodes, warnings: [...new Set([...pass.warnings, ...warnings])] };
}

/** Why the pass did not evaluate the reading; undefined if it did, or failed. */
export function unreadOf({ ok, readings }: Snapshot, key: string): Unread | undefined {
  if (key === DEFAULT_KEY || !ok) return undefined;
  const figures = readings?.get(key);
  if (figures === undefined) return 'NotAsked';
  return figures.hadNoTime ? 'NoTime' : undefined;
}

/** The pass with further readings. The readings that it has stay. */
export function withReadings(pass: Snapshot, added: ReadonlyMap<string, ReadingFigures> | undefined): Snapshot {
  return added === undefined ? pass : { ...pass, readings: new Map([...added, ...(pass.readings ?? [])]) };
}

function nodesWithout({ nodes, startedAt, timeSeconds = startedAt / 1000 }: Snapshot, why: Unread): Snapshot['nodes'] {
  const missing = { devices: [], timeSeconds, reason: 'NotEvaluated', message: WHY_UNREAD[why] } as const;
  return new Map(Array.from(nodes.keys(), (node) => [node, { node, ...missing }]));
}

/** The part of a snapshot about series that could not be assigned to exactly one node. */
type UnattributedSeries = Pick<
  Snapshot,
  'unmatchedSeries' | 'unmatchedExamples' | 'ambiguousSeries' | 'ambiguousExamples'
>;

/** The series of one answer that belong to no node, and to several. */
export interface Strays {
  readonly unmatched: Unattributed;
  readonly ambiguous: Unattributed;
}

/** Combines the series of the rates and of the facts. Both are about the same devices: the larger number of each kind counts, not the sum. */
export function unattributedOf(rates: Strays, facts: Strays): UnattributedSeries {
  const unmatched = rates.unmatched.series >= facts.unmatched.series ? rates.unmatched : facts.unmatched;
  const ambiguous = rates.ambiguous.series >= facts.ambiguous.series ? rates.ambiguous : facts.ambiguous;
  return {
    unmatchedSeries: unmatched.series,
    unmatchedExamples: [...unmatched.examples],
    ambiguousSeries: ambiguous.series,
    ambiguousExamples: [...ambiguous.examples],
  };
}

function describe(what: string, count: number, examples: readonly string[]): string[] {
  return count === 0 ? [] : [`${what}: ${count}, such as ${examples.join(', ')}`];
}

/**
 * Describes how many series belong to no node and to several nodes, with the labels of some. If a whole cluster has no
 * figures, this shows that series exist but their labels do not match. Empty if each series belongs to one node.
 */
export function describeUnattributed(series: UnattributedSeries): string[] {
  return [
    ...describe('series that belong to no node', series.unmatchedSeries, series.unmatchedExamples),
    ...describe('series that belong to several nodes', series.ambiguousSeries, series.ambiguousExamples),
  ];
}

/**
 * True if a kind of unattributed series (unmatched or ambiguous) is present now and was absent in the previous pass.
 *
 * @param before undefined if there was no previous pass
 */
export function hasNewlyUnattributed(now: UnattributedSeries, before: UnattributedSeries | undefined): boolean {
  const isNew = (count: number, countBefore = 0): boolean => count > 0 && countBefore === 0;
  return isNew(now.unmatchedSeries, before?.unmatchedSeries) || isNew(now.ambiguousSeries, before?.ambiguousSeries);
}
