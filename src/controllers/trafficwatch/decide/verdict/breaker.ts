import { nodesOf, type NodeCount } from '../../../../api/trafficwatch/nodeCount.ts';
import { settled, unknown, type NodeVerdict } from './nodeVerdict.ts';
import type { Side } from './side.ts';

/** The fields of a spec that limit how many nodes can be unfit. */
export interface BreakerSpec {
  readonly maxUnfit?: NodeCount | undefined;
  readonly minFit?: NodeCount | undefined;
}

/** How many nodes are above the threshold, and how many of them may be unfit. */
export interface Breaker {
  readonly above: number;
  readonly limit: number;
  /** How many nodes are not labelled unfit for the limit. The breaker is open while there are any. */
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
 * | node                                   | then                                            |
 * |----------------------------------------|-------------------------------------------------|
 * | labelled unfit, stays unfit or unknown | stays, the fullest first, up to the limit       |
 * | labelled unfit, over the limit (fewer nodes, lower limit) | released: Fit, HeldByBreaker |
 * | labelled unfit, turns fit              | released; its place is free in the next decision |
 * | above, not labelled unfit, place free  | Unfit, the fullest first                        |
 * | above, not labelled unfit, no place    | keeps its label: HeldByBreaker                  |
 * | any other                              | as before                                       |
 *
 * Nodes that are labelled come before nodes that are fuller, so that figures that move do not swap labels. A place
 * counts as taken until its label is gone: writes of one pass have no order.
 */
export function applyBreaker(candidates: readonly Candidate[], limit: number): Limited {
  const places = candidates.map((_, place) => place);
  const labelled = places.filter((place) => candidates[place]?.labelled === 'above');
  const staying = labelled.filter((place) => candidates[place]?.verdict.side !== 'notAbove');
  const added = places.filter((place) => isAbove(candidates[place]) && candidates[place]?.labelled !== 'above');
  const free = Math.max(limit - labelled.length, 0);
  const over = new Set([...byFullness(candidates, staying).slice(limit), ...byFullness(candidates, added).slice(free)]);
  return {
    verdicts: candidates.map((candidate, place) => (over.has(place) ? held(candidate, limit) : candidate.verdict)),
    breaker: { above: candidates.filter(isAbove).length, limit, held: over.size },
  };
}

function isAbove(candidate: Candidate | undefined): boolean {
  return candidate?.verdict.side === 'above';
}

function byFullness(candidates: readonly Candidate[], places: readonly number[]): number[] {
  const percentOf = (place: number): number => candidates[place]?.percent ?? -1;
  return [...places].sort((a, b) => percentOf(b) - percentOf(a) || a - b);
}

function held({ labelled }: Candidate, limit: number): NodeVerdict {
  const message = `held back: maxUnfit or minFit allows ${limit} unfit nodes, and fuller ones are labelled`;
  return labelled === undefined ? unknown('HeldByBreaker', message) : settled('notAbove', 'HeldByBreaker', message);
}
