import { nodesOf, type NodeCount } from '../../../../api/trafficwatch/nodeCount.ts';
import { settled, type NodeVerdict } from './nodeVerdict.ts';
import type { Side } from './side.ts';

/** Reason of a node that is above the threshold and not unfit. */
export const HELD_BY_BREAKER = 'HeldByBreaker';

/** The fields of a spec that limit how many nodes can be unfit. */
export interface BreakerSpec {
  readonly maxUnfit?: NodeCount | undefined;
  readonly minFit?: NodeCount | undefined;
}

/** How many nodes are above the threshold, and how many of them may be unfit. */
export interface Breaker {
  readonly above: number;
  readonly limit: number;
  /** How many nodes above the threshold are not unfit. The breaker is open while there are any. */
  readonly held: number;
}

/** One node before the limit is applied. */
export interface Candidate {
  readonly verdict: NodeVerdict;
  /** The side that its label stands for now. */
  readonly labelled: Side | undefined;
  /** Percent in the newest pass; undefined without a figure. */
  readonly percent: number | undefined;
}

/** What the limit makes of the verdicts. */
export interface Limited {
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
export function limitOf({ maxUnfit, minFit }: BreakerSpec, total: number): number | undefined {
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
 * | any other                              | as before                                         |
 *
 * Nodes that are labelled come before nodes that are fuller, so that figures that move do not swap labels. A place
 * counts as taken until its label is gone: writes of one pass have no order. A node without a figure is never changed.
 */
export function applyBreaker(candidates: readonly Candidate[], limit: number): Limited {
  const labelled = placesOf(candidates, ({ labelled: side }) => side === 'above');
  const undecided = placesOf(candidates, ({ verdict, labelled: side }) => side === 'above' && !verdict.side);
  const staying = placesOf(candidates, ({ verdict, labelled: side }) => side === 'above' && verdict.side === 'above');
  const added = placesOf(candidates, ({ verdict, labelled: side }) => side !== 'above' && verdict.side === 'above');
  const over = new Set([
    ...byFullness(candidates, staying).slice(Math.max(limit - undecided.length, 0)),
    ...byFullness(candidates, added).slice(Math.max(limit - labelled.length, 0)),
  ]);
  return {
    verdicts: candidates.map(({ verdict }, place) => (over.has(place) ? held(limit) : verdict)),
    breaker: { above: staying.length + added.length, limit, held: over.size },
  };
}

function placesOf(candidates: readonly Candidate[], matches: (candidate: Candidate) => boolean): number[] {
  return candidates.flatMap((candidate, place) => (matches(candidate) ? [place] : []));
}

function byFullness(candidates: readonly Candidate[], places: readonly number[]): number[] {
  const percentOf = (place: number): number => candidates[place]?.percent ?? -1;
  return [...places].sort((a, b) => percentOf(b) - percentOf(a) || a - b);
}

function held(limit: number): NodeVerdict {
  const message = `above the threshold, but held back: maxUnfit or minFit allows ${limit} unfit nodes, and others come first`;
  return settled('notAbove', HELD_BY_BREAKER, message);
}
