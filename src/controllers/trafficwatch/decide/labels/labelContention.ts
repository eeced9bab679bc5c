import type { NodeView } from '../../observe/observation.ts';
import type { LabelChange, LabelChanges, LabelRef } from '../../model/label.ts';

/** A label that another client keeps changing back after the operator rewrites it. */
export interface ContendedLabel extends LabelRef {
  /** The field manager of that client, if known. */
  readonly rival?: string | undefined;
}

/** Which of the wanted label changes to write now. */
interface ContentionDecision {
  /** The changes to write in this pass. The others wait for a later pass. */
  readonly labels: LabelChanges;
  readonly contended: readonly ContendedLabel[];
  /** Labels unchanged for QUIET_PASSES passes. Their write records can be dropped. */
  readonly over: readonly LabelRef[];
}

/**
 * From this many rewrites on, a label is contended. Fewer may be manual edits: a person does not edit the same label
 * three times within a few passes.
 */
const CONTENDED_AFTER_REWRITES = 3;

/**
 * Maximum number of passes between two rewrites: five minutes with the default --interval of 10 s. The same backoff as
 * the kubelet's between restarts of a crashing container: 10 s, doubled each time, up to five minutes.
 * https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy
 */
const LONGEST_WAIT_PASSES = 30;

/** Two minutes of passes, so that a rival that resyncs every minute is still detected. */
const QUIET_PASSES = 12;

/**
 * How many passes to wait before the next rewrite.
 *
 * | rewrites so far | 0 to 2 | 3 | 4 | 5 | 6  | more |
 * |-----------------|--------|---|---|---|----|------|
 * | passes to wait  | 1      | 2 | 4 | 8 | 16 | 30   |
 */
export function passesToWait(rewrites: number): number {
  const doublings = Math.max(rewrites - CONTENDED_AFTER_REWRITES + 1, 0);
  return Math.min(2 ** doublings, LONGEST_WAIT_PASSES);
}

/**
 * Decides which of the wanted label changes to write in this pass. A changed verdict is always written.
 *
 * | wanted change          | since the last write  | decision                                        |
 * |------------------------|-----------------------|-------------------------------------------------|
 * | first write, or another value | any            | write                                           |
 * | the same value again   | passesToWait or more  | write: a rewrite                                |
 * | the same value again   | fewer                 | hold back                                       |
 * | none                   | QUIET_PASSES or more  | drop the write record; the contention is over   |
 *
 * A label is contended from CONTENDED_AFTER_REWRITES rewrites on, until its write record is dropped.
 *
 * @param input.keys the label keys of this TrafficWatch
 * @param input.pass number of the newest pass
 */
export function decideContention(input: {
  nodes: readonly NodeView[];
  keys: readonly string[];
  wanted: LabelChanges;
  pass: number;
}): ContentionDecision {
  const { nodes, keys, wanted, pass } = input;
  const labels = new Map<string, LabelChange>(wanted);
  const contended: ContendedLabel[] = [];
  const over: LabelRef[] = [];
  for (const { name: node, writes } of nodes) {
    for (const key of writes === undefined ? [] : keys) {
      const last = writes?.[key];
      if (last === undefined) continue;
      const isWanted = wanted.get(node)?.[key] === last.value;
      const passes = pass - last.pass;
      if (isWanted && passes < passesToWait(last.rewrites)) holdBack(labels, node, key);
      if (!isWanted && passes >= QUIET_PASSES) over.push({ node, key });
      else if (last.rewrites >= CONTENDED_AFTER_REWRITES) contended.push({ node, key, rival: last.rival });
    }
  }
  return { labels, contended, over };
}

function holdBack(labels: Map<string, LabelChange>, node: string, key: string): void {
  const rest = Object.entries(labels.get(node) ?? {}).filter(([other]) => other !== key);
  if (rest.length > 0) labels.set(node, Object.fromEntries(rest));
  else labels.delete(node);
}
