import {
  podPlacementEntrySchema,
  type PodPlacementEntry,
  type PodPlacementSpec,
} from '../../../../api/podplacement/schema.ts';
import type { TrafficWatch, TrafficWatchSpec, TrafficWatchStatus } from '../../../../api/trafficwatch/schema.ts';
import { modeOf } from '../../../../api/trafficwatch/spec/mode.ts';
import { PLACEMENTS, placementOf } from '../../../../api/trafficwatch/spec/placement.ts';
import { readStatus } from '../../../../api/trafficwatch/status.ts';
import { isEqual } from '../../../../runtime/apply/mergePatch.ts';
import { isTerminating } from '../../../../runtime/controller/conditions.ts';
import type { SelectorLike } from '../../../../api/labelMatcher.ts';
import type { LabelSelector } from '../../../../api/labelSelector.ts';
import type { TargetRef } from '../../../../api/trafficwatch/spec/workload.ts';
import type { Observation } from '../../observe/observation.ts';
import { AVOIDED_AT_MOST } from '../../../../api/trafficwatch/statusSchema.ts';
import { createLastSide } from '../labels/lastVerdict.ts';
import type { NodeVerdict } from '../verdict/nodeVerdict.ts';

/**
 * Returns the selector of the pods that the admission policy gives the node affinity, for `status.podSelector`.
 *
 * | spec        | target                        | result                                       |
 * |-------------|-------------------------------|----------------------------------------------|
 * | deployment  |                               | none: the Deployment's template has the affinity |
 * | podSelector |                               | the selector                                 |
 * | targetRef   | found                         | its selector                                 |
 * | targetRef   | absent, and its kind defines its pods (Job) | that selector                             |
 * | targetRef   | absent or cannot be read, as in the status | the last selector: a target that is deleted and created again gets its pods protected from the first |
 * | targetRef   | absent or cannot be read, and not the target in the status | none                         |
 * | targetRef   | known to have no pods, or no such kind   | none                              |
 */
export function podSelectorOf({ watch, workload }: Observation): LabelSelector | undefined {
  const { spec, status } = watch;
  if (spec.podSelector !== undefined) return spec.podSelector;
  const target = workload?.target;
  if (target === undefined || target.selector !== undefined) return target?.selector;
  if (target.expected !== undefined) return target.expected;
  const isSilent = target.reason === 'TargetNotFound' || target.reason === 'TargetUnreadable';
  return isSilent && isSame(status?.target, spec.targetRef) ? status?.podSelector : undefined;
}

/** The pods of the workload, whoever owns it. Undefined if they are not known. */
export function workloadSelectorOf(o: Observation): SelectorLike | undefined {
  return o.watch.spec.deployment?.selector ?? podSelectorOf(o);
}

function isSame(a: TargetRef | undefined, b: TargetRef | undefined): boolean {
  return a?.apiVersion === b?.apiVersion && a?.kind === b?.kind && a?.name === b?.name;
}

/** The nodes that new pods avoid by name. */
export interface AvoidedNodes {
  /** In alphabetical order, AVOIDED_AT_MOST at most. */
  readonly names: readonly string[];
  /** False if more nodes are unfit. */
  readonly isComplete: boolean;
}

/**
 * The nodes that the admission policy excludes for pods that are created now, for `status.avoidedNodes`.
 *
 * | placement  | unfit nodes               | result                                                |
 * |------------|---------------------------|-------------------------------------------------------|
 * | not AtCreation | any                   | undefined                                             |
 * | AtCreation | none                      | no names: pods only prefer fit nodes                  |
 * | AtCreation | AVOIDED_AT_MOST at most   | all of them                                           |
 * | AtCreation | more                      | the first by name, so that the list is steady; the others are avoided only by preference |
 *
 * @param verdicts one for each node of the observation, in the same order. A verdict without a side leaves the label as
 *   it is, so the label counts.
 */
export function avoidedNodesOf(o: Observation, verdicts: readonly NodeVerdict[]): AvoidedNodes | undefined {
  if (placementOf(o.watch.spec) !== 'AtCreation') return undefined;
  const lastSide = createLastSide(o);
  const unfit = o.view.nodes.filter((node, place) => (verdicts[place]?.side ?? lastSide(node)) === 'above');
  const names = unfit.map(({ name }) => name).sort();
  return { names: names.slice(0, AVOIDED_AT_MOST), isComplete: names.length <= AVOIDED_AT_MOST };
}

/**
 * Returns the names to write before the labels: the names in the status, and the nodes that turn unfit. Without them, a pod
 * that is created between the label and the status could run on a node that has the label already.
 *
 * @param before the names of the status
 * @returns undefined if the status names every node that is unfit
 */
export function namesBeforeLabels(before: readonly string[], { names }: AvoidedNodes): string[] | undefined {
  if (names.every((name) => before.includes(name))) return undefined;
  const others = before.filter((name) => !names.includes(name));
  return [...names, ...others].slice(0, AVOIDED_AT_MOST).sort();
}

/**
 * The largest spec of a PodPlacement: bytes of JSON. etcd takes 1.5 MiB in a request, and the object must stay below
 * 1 MiB with its metadata.
 */
export const MOST_PLACEMENT_BYTES = 900_000;
/** A position with its comma and quotes and brackets around its label: bytes. */
const POSITION_BYTES = 12;
/**
 * The most entries that one label finds, and the most that are found by none. Each entry that selects a pod delays its creation:
 * 12 with Preferred by 13 % of the time with one, 16 by 21 %. The policy itself takes any number, so that an object of an earlier
 * version works until it is written again.
 */
export const MOST_OF_LABEL = 10;
/** Where the entries are that are found by no label. Each label has a "=". */
const NO_LABEL = '';

/** The content of the PodPlacement of a namespace. */
interface PodPlacementDecision {
  /** Undefined if no TrafficWatch places pods: the namespace has no PodPlacement then. */
  readonly spec: PodPlacementSpec | undefined;
  /** Names of the TrafficWatches that did not fit into MOST_PLACEMENT_BYTES and MOST_OF_LABEL. */
  readonly omitted: ReadonlySet<string>;
}

/**
 * Returns the entry that a TrafficWatch adds for the pods that it selects.
 *
 * | TrafficWatch                                                   | entry |
 * |----------------------------------------------------------------|-------|
 * | is being deleted                                               | none  |
 * | mode Observe: nodes have no labels                             | none  |
 * | no label key or no pod selector in the status, or not readable | none  |
 * | other                                                          | from its status; an unknown placement counts as Preferred |
 */
export function placementEntryOf(watch: TrafficWatch): PodPlacementEntry | undefined {
  // An object that was stored under another CRD may have no spec.
  const spec = (watch.spec as TrafficWatchSpec | null | undefined) ?? ({} as TrafficWatchSpec);
  if (isTerminating(watch) || modeOf(spec) === 'Observe') return undefined;
  const { labelKey, podSelector, avoidedNodes } = readStatus(watch.status) ?? {};
  if (labelKey === undefined || podSelector === undefined) return undefined;
  const placement = PLACEMENTS.find((one) => one === placementOf(spec)) ?? 'Preferred';
  const names = placement === 'AtCreation' && avoidedNodes?.length ? { avoidedNodes } : {};
  const entry = { trafficWatch: watch.metadata?.name ?? '', labelKey, placement, podSelector, ...names };
  return podPlacementEntrySchema.safeParse(entry).data;
}

/**
 * Whether an entry has the label key, the placement and the selector of the plan. Names of unfit nodes do not count: they
 * follow the status some milliseconds later.
 */
export function isPlacedAs(
  entry: PodPlacementEntry | undefined,
  watch: TrafficWatch,
  { labelKey, podSelector }: Pick<TrafficWatchStatus, 'labelKey' | 'podSelector'>,
): boolean {
  const expected = placementEntryOf({ ...watch, status: { labelKey, podSelector } });
  if (entry === undefined || expected === undefined) return false;
  return isEqual({ ...entry, avoidedNodes: undefined }, { ...expected, avoidedNodes: undefined });
}

/**
 * Decides the PodPlacement of a namespace. Each entry is indexed by one label that its selector requires: the label that finds
 * the fewest older entries. What becomes of an entry depends on older TrafficWatches only, so that a new one never displaces
 * another.
 *
 * @param watches all TrafficWatches of the namespace, in any order
 */
export function decidePodPlacement(watches: readonly TrafficWatch[]): PodPlacementDecision {
  const entries: PodPlacementEntry[] = [];
  const positions = new Map<string, number[]>();
  const omitted = new Set<string>();
  let bytes = 0;
  for (const entry of entriesByAge(watches)) {
    const { labels, found } = emptiestOf(alternativesOf(entry), positions);
    const size = sizeOf(entry, labels);
    if (found >= MOST_OF_LABEL || bytes + size > MOST_PLACEMENT_BYTES) {
      omitted.add(entry.trafficWatch);
      continue;
    }
    bytes += size;
    const position = entries.push(entry) - 1;
    for (const label of labels) positions.set(label, [...(positions.get(label) ?? []), position]);
  }
  if (entries.length === 0) return { spec: undefined, omitted };
  const { [NO_LABEL]: others, ...byLabel } = Object.fromEntries(positions);
  const isIndexed = Object.keys(byLabel).length > 0;
  return { spec: { entries, ...(isIndexed && { byLabel }), ...(others && { others }) }, omitted };
}

/** Returns the entries, oldest TrafficWatch first. Most of a namespace beyond the limits have none. */
function entriesByAge(watches: readonly TrafficWatch[]): PodPlacementEntry[] {
  const aged = watches.flatMap((watch) => {
    const entry = placementEntryOf(watch);
    return entry === undefined ? [] : { entry, createdAt: Number(new Date(watch.metadata?.creationTimestamp ?? 0)) };
  });
  aged.sort((a, b) => a.createdAt - b.createdAt || (a.entry.trafficWatch < b.entry.trafficWatch ? -1 : 1));
  return aged.map(({ entry }) => entry);
}

/**
 * The labels, key=value, that can find an entry: each of matchLabels alone, or all values of one expression In. A pod has
 * one value for each key, so it finds the entry once.
 */
function alternativesOf({ podSelector }: PodPlacementEntry): string[][] {
  const { matchLabels = {}, matchExpressions = [] } = podSelector ?? {};
  const lists = matchExpressions.filter(({ operator }) => operator === 'In');
  return [
    ...Object.entries(matchLabels).map(([key, value]) => [`${key}=${value}`]),
    ...lists.map(({ key, values = [] }) => [...new Set(values)].map((value) => `${key}=${value}`)),
  ];
}

/** Returns the alternative whose fullest label finds the fewest entries so far, and how many: the first if several do. */
function emptiestOf(
  alternatives: readonly string[][],
  positions: ReadonlyMap<string, readonly number[]>,
): { labels: readonly string[]; found: number } {
  const all = (alternatives.length > 0 ? alternatives : [[NO_LABEL]]).map((labels) => ({
    labels,
    found: labels.reduce((most, label) => Math.max(most, positions.get(label)?.length ?? 0), 0),
  }));
  return all.reduce((best, one) => (one.found < best.found ? one : best));
}

/** The bytes that an entry with its labels takes in the JSON of the object. */
function sizeOf(entry: PodPlacementEntry, labels: readonly string[]): number {
  const texts = [JSON.stringify(entry), ...labels.map((label) => JSON.stringify(label))];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + POSITION_BYTES, 0);
}
