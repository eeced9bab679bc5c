import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';

/** The outages of the measurement that the passes show, for one reading. */
export interface Outages {
  /** Start of the last pass with a figure of any node: ms since the epoch by our clock. Undefined before the first. */
  readonly lastPassAt: number | undefined;
  /** The outage that goes on; undefined if the last pass had figures. */
  readonly current: { readonly since: number; readonly passes: number; readonly lostData: boolean } | undefined;
  /** When figures were back after the last outage: the start of that pass. Undefined without an outage. */
  readonly backAt: number | undefined;
}

/** Before the first pass. */
export const NO_OUTAGE: Outages = { lastPassAt: undefined, current: undefined, backAt: undefined };

/** A single pass that fails is no outage: with a slow Prometheus every third pass may, and verdicts must still come. */
const LEAST_FAILED_PASSES = 2;

/**
 * The outages after another pass. After an outage the rate window is only partly filled, and its rates are of few scrapes.
 * Figures are rates here: a node without a known capacity has one, and spec.capacity may make a percent of it.
 *
 * | pass                          | before it                                              | then                   |
 * |-------------------------------|--------------------------------------------------------|------------------------|
 * | did not evaluate the reading  | any                                                    | as before              |
 * | failed                        | any                                                    | an outage goes on      |
 * | has a figure of no node       | any                                                    | an outage goes on: the scrapes in the window are lost |
 * | has figures                   | no outage                                              | none                   |
 * | has figures                   | scrapes were lost                                      | figures are back now   |
 * | has figures                   | two passes or more failed, for more than half a window | figures are back now   |
 * | has figures                   | a shorter outage                                       | none: the window has scrapes from before |
 * | no nodes                      | any                                                    | as before              |
 *
 * The length of an outage is from the last pass with figures to the next one. Before the first one it is from the first
 * pass of the process.
 */
export function nextOutages(before: Outages, pass: Snapshot, windowMs: number): Outages {
  if (hasRate(pass)) {
    const isOver = before.current !== undefined && counts(before.current, pass, windowMs);
    return { lastPassAt: pass.startedAt, current: undefined, backAt: isOver ? pass.startedAt : before.backAt };
  }
  if (pass.unread !== undefined || (pass.ok && pass.nodes.size === 0)) return before;
  const { since = before.lastPassAt ?? pass.startedAt, passes = 0, lostData = false } = before.current ?? {};
  return { ...before, current: { since, passes: passes + 1, lostData: lostData || pass.ok } };
}

function hasRate({ ok, nodes }: Snapshot): boolean {
  if (!ok) return false;
  for (const { percent, bytesPerSecond } of nodes.values()) {
    if (percent !== undefined || bytesPerSecond !== undefined) return true;
  }
  return false;
}

function counts(
  { since, passes, lostData }: NonNullable<Outages['current']>,
  back: Snapshot,
  windowMs: number,
): boolean {
  return lostData || (passes >= LEAST_FAILED_PASSES && back.startedAt - since > windowMs / 2);
}

/** Whether the rate window has been filling since the last outage: less than one window has passed since figures are back. */
export function isWindowFilling(
  { backAt }: Pick<Outages, 'backAt'>,
  newest: Snapshot | undefined,
  windowMs: number,
): boolean {
  if (backAt === undefined || newest === undefined) return false;
  const elapsed = newest.startedAt - backAt;
  return elapsed >= 0 && elapsed < windowMs;
}
