import { nodesOf, type LimitSpec } from '../../../../api/trafficwatch/spec/nodeCount.ts';
import { metaTime } from '../../../../runtime/controller/conditions.ts';
import { NOT_RECOVERED, HELD_BY_MIN_HOLD, WARMING_UP } from './policies.ts';
import { settled, type NodeVerdict } from './nodeVerdict.ts';
import type { Side } from '../../model/label.ts';

/** Reason of a node that is above the threshold and not unfit. */
export const HELD_BY_BREAKER = 'HeldByBreaker';
/** Reasons of verdicts that keep the label although the passes are on the other side of the threshold. */
const KEEPING: ReadonlySet<string> = new Set([HELD_BY_MIN_HOLD, WARMING_UP]);

/** How many nodes are above the threshold, and how many of them may be unfit. */
export interface Breaker {
  readonly above: number;
  /** How many of them are only above recoverBandwidthPercent, and so stay unfit; absent if none is. */
  readonly recovering?: number;
  readonly limit: number;
  /** How many nodes above the threshold are not unfit. The breaker is open while there are any, and in the cooldown. */
  readonly held: number;
  /** Since when the breaker is open only for the cooldown, ms since the epoch; undefined outside of it. */
  readonly coolingSince?: number | undefined;
  /** When the cooldown ends if the limit is not exceeded until then: ms since the epoch. */
  readonly closesAt?: number | undefined;
}

/** The inputs for the cooldown of a breaker. */
export interface Cooldown {
  readonly ms: number;
  /** Whether the breaker was open after the last decision. */
  readonly wasOpen: boolean;
  /** `coolingSince` of the last decision. */
  readonly coolingSince: number | undefined;
  /** ms since the epoch. */
  readonly now: number;
}

/** One node before the limit is applied. */
export interface Candidate {
  readonly verdict: NodeVerdict;
  /** The side that its label stands for now. */
  readonly labelled: Side | undefined;
  /** Percent in the newest pass; undefined without a figure. */
  readonly percent: number | undefined;
}

/** The verdicts after the limit was applied. */
interface Limited {
  /** In the order of the candidates. */
  readonly verdicts: readonly NodeVerdict[];
  readonly breaker: Breaker;
}

/**
 * How many of `total` nodes can be unfit; undefined without a limit. The lower limit applies.
 *
 * | field    | share         | at least |
 * |----------|---------------|----------|
 * | maxUnfit | rounded down  | 1        |
 * | minFit   | rounded up, and subtracted from all nodes | 0 |
 *
 * @param total nodes that can be measured
 */
export function limitOf({ maxUnfit, minFit }: LimitSpec, total: number): number | undefined {
  const limits = [
    ...(maxUnfit === undefined ? [] : [Math.max(nodesOf(maxUnfit, total, Math.floor), 1)]),
    ...(minFit === undefined ? [] : [Math.max(total - nodesOf(minFit, total, Math.ceil), 0)]),
  ];
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/**
 * Holds back verdicts so that no more than `limit` nodes carry the label of an unfit node at any time.
 *
 * | node                                   | then                                              |
 * |----------------------------------------|---------------------------------------------------|
 * | labelled unfit, not decided (no figure) | keeps its label, and takes a place               |
 * | labelled unfit, above                  | stays unfit, the fullest first, up to the limit   |
 * | labelled unfit, above, over the limit (fewer nodes, lower limit) | Fit: HeldByBreaker      |
 * | labelled unfit, turns fit              | Fit; its place is free in the next decision       |
 * | above, not labelled unfit, place free  | Unfit, the fullest first                          |
 * | above, not labelled unfit, no place    | Fit: HeldByBreaker                                |
 * | above, not labelled unfit, kept by minHold or WarmingUp, a place left | as before          |
 * | above, not labelled unfit, kept by minHold or WarmingUp, no place left | Fit: HeldByBreaker |
 * | any other                              | as before                                         |
 *
 * Verdicts that minHold or WarmingUp keep do not count by the label: otherwise the breaker would close when figures are
 * back after an outage, and open again when the rate window is full.
 *
 * Nodes that are labelled come before nodes that are fuller, so that figures that move do not swap labels. A place
 * counts as taken until its label is gone: writes of one pass have no order. A node without a figure is never changed.
 *
 * With a cooldown the breaker closes only after no node was over the limit for that time, so that a number of nodes that
 * moves around the limit does not open and close it in turn:
 *
 * | over the limit | breaker was | within the limit since | breaker                                        |
 * |----------------|-------------|------------------------|------------------------------------------------|
 * | some           | any         | any                    | open; free places are given to others          |
 * | none           | closed      |                        | closed                                         |
 * | none           | open        | less than the cooldown | open: no further node becomes unfit            |
 * | none           | open        | the cooldown, or longer | closed                                        |
 *
 * Peers act alike: remediation by Cluster API's MachineHealthCheck stops above maxUnhealthy.
 */
export function applyBreaker(candidates: readonly Candidate[], limit: number, cooldown?: Cooldown): Limited {
  const labelled = placesOf(candidates, ({ labelled: side }) => side === 'above');
  const undecided = placesOf(candidates, ({ verdict, labelled: side }) => side === 'above' && !verdict.side);
  const staying = placesOf(candidates, ({ verdict, labelled: side }) => side === 'above' && verdict.side === 'above');
  const added = placesOf(candidates, ({ verdict, labelled: side }) => side !== 'above' && verdict.side === 'above');
  // They take the places that are left, so that they hold back no node whose label may change now.
  const waiting = placesOf(candidates, ({ verdict, labelled: side }) => side !== 'above' && isKeptFit(verdict));
  const joining = [...byFullness(candidates, added), ...byFullness(candidates, waiting)];
  const overLimit = [
    ...byFullness(candidates, staying).slice(Math.max(limit - undecided.length, 0)),
    ...joining.slice(Math.max(limit - labelled.length, 0)),
  ];
  const coolingSince = overLimit.length > 0 ? undefined : cooling(cooldown);
  const over = new Set(coolingSince === undefined ? overLimit : joining);
  const closesAt = coolingSince === undefined ? undefined : coolingSince + (cooldown?.ms ?? 0);
  const heldVerdict = held(limit, closesAt);
  const keptUnfit = staying.filter((place) => KEEPING.has(candidates[place]?.verdict.reason ?? ''));
  const recovering = staying.filter((place) => candidates[place]?.verdict.reason === NOT_RECOVERED && !over.has(place));
  return {
    verdicts: candidates.map(({ verdict }, place) => (over.has(place) ? heldVerdict : verdict)),
    breaker: {
      above: staying.length - keptUnfit.length + joining.length,
      ...(recovering.length > 0 && { recovering: recovering.length }),
      limit,
      held: over.size,
      coolingSince,
      closesAt,
    },
  };
}

/** Since when the cooldown runs; undefined if there is none or it is over. */
function cooling(cooldown: Cooldown | undefined): number | undefined {
  if (!cooldown?.wasOpen) return undefined;
  const { now, ms } = cooldown;
  // The status has whole seconds.
  const { coolingSince = Math.ceil(now / 1000) * 1000 } = cooldown;
  return now - coolingSince < ms ? coolingSince : undefined;
}

/** Whether the passes are above the threshold, but the node stays fit for now. */
function isKeptFit({ side, reason }: NodeVerdict): boolean {
  return side === 'notAbove' && KEEPING.has(reason);
}

function placesOf(candidates: readonly Candidate[], matches: (candidate: Candidate) => boolean): number[] {
  return candidates.flatMap((candidate, place) => (matches(candidate) ? [place] : []));
}

function byFullness(candidates: readonly Candidate[], places: readonly number[]): number[] {
  const percentOf = (place: number): number => candidates[place]?.percent ?? -1;
  return [...places].sort((a, b) => percentOf(b) - percentOf(a) || a - b);
}

function held(limit: number, closesAt: number | undefined): NodeVerdict {
  const why =
    closesAt === undefined
      ? `maxUnfit or minFit allows ${limit} unfit nodes, and others come first`
      : `breakerCooldown runs until ${metaTime(closesAt)}`;
  return settled('notAbove', HELD_BY_BREAKER, `above the threshold, but held back: ${why}`);
}
