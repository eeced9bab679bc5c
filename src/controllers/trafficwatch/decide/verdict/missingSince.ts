import type { Snapshot } from '../../../../usage/evaluate/snapshot.ts';
import { hasFigure } from '../../observe/passViews.ts';

/** Since when nodes have no figure, as far as the passes of this process show. */
export interface MissingNodes {
  /** Node name -> the start of the first pass without a figure of it: ms since the epoch by our clock. */
  readonly since: ReadonlyMap<string, number>;
  /** Start of the last pass that had a figure of any node and no warning; undefined if there was none. */
  readonly lastPassAt: number | undefined;
  /** True if later passes were not like that. */
  readonly isInterrupted: boolean;
}

/** The state before the first pass: a start of the operator resets the time without a figure. */
export const NOTHING_MISSING: MissingNodes = { since: new Map(), lastPassAt: undefined, isInterrupted: false };

/**
 * Returns the nodes without a figure after a further pass.
 *
 * | pass                              | node                       | without a figure since                       |
 * |-----------------------------------|----------------------------|----------------------------------------------|
 * | failed, or has no figure for any node | any                    | as before: such a pass says nothing of a node |
 * | has figures                       | has one, or is gone        | not listed                                   |
 * | has figures                       | cannot be measured         | not listed: the time restarts when it can    |
 * | has figures, and a warning: may be partial | has none          | as before                                    |
 * | has figures                       | has none, was not listed   | the start of the pass                        |
 * | has figures                       | has none, was listed       | as before                                    |
 * | the first whole one after failed or partial ones | has none, was listed | later by the time without figures: an outage of Prometheus does not count |
 *
 * @param notMeasurable the nodes that cannot be measured, by name
 */
export function nextMissing(
  before: MissingNodes,
  pass: Snapshot,
  notMeasurable: ReadonlyMap<string, unknown>,
): MissingNodes {
  if (!hasFigure(pass)) return { ...before, isInterrupted: true };
  const { lastPassAt = pass.startedAt } = before;
  // Such as a Thanos whose store does not answer: the nodes that the pass lacks may well have figures.
  const isPartial = pass.warnings.length > 0;
  const outageMs = before.isInterrupted && !isPartial ? Math.max(pass.startedAt - lastPassAt, 0) : 0;
  const since = new Map<string, number>();
  for (const { node, percent } of pass.nodes.values()) {
    if (percent !== undefined || notMeasurable.has(node)) continue;
    const was = before.since.get(node);
    if (was !== undefined) since.set(node, was + outageMs);
    else if (!isPartial) since.set(node, pass.startedAt);
  }
  if (isPartial) return { ...before, since, isInterrupted: true };
  return { since, lastPassAt: pass.startedAt, isInterrupted: false };
}
