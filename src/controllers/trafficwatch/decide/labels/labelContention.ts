import type { NodeView } from '../../observe/observation.ts';
import type { LabelChange, LabelChanges } from './nodeLabels.ts';

/** A label key of a Node. */
export interface LabelRef {
  readonly node: string;
  readonly key: string;
}

/** A label that somebody changes again as often as it is put right. */
export interface ContendedLabel extends LabelRef {
  readonly rival?: string | undefined;
}

/** What becomes of the label changes that are wanted. */
export interface ContentionDecision {
  /** Those that are due; the others wait for a later pass. */
  readonly labels: LabelChanges;
  readonly contended: readonly ContendedLabel[];
  /** Writes that have stood for long enough to be forgotten. */
  readonly over: readonly LabelRef[];
}

/** So often somebody may have had a reason; a person does not edit a label three times in a few passes. */
const CONTENDED_AFTER_REWRITES = 3;

/**
 * Passes between two rewrites, as the kubelet waits between restarts of a container that crashes: 10 s, twice as long
 * each time, five minutes at most; a pass takes 10 s (--interval).
 * https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy
 */
const LONGEST_WAIT_PASSES = 30;

/** Two minutes of passes, so that a rival that looks every minute is seen to be still there. */
const QUIET_PASSES = 12;

/** | rewrites so far | 0 to 2 | 3 | 4 | 5 | 6  | more | and passes to wait: | 1 | 2 | 4 | 8 | 16 | 30 | */
export function passesToWait(rewrites: number): number {
  const doublings = Math.max(rewrites - CONTENDED_AFTER_REWRITES + 1, 0);
  return Math.min(2 ** doublings, LONGEST_WAIT_PASSES);
}

/**
 * Which of the wanted label changes are written in this pass. A verdict that turned is always written.
 *
 * | wanted                 | since the last write  | then                                        |
 * |------------------------|-----------------------|---------------------------------------------|
 * | another value, or none of ours before | any    | written                                     |
 * | the same value again   | the wait is over      | written: a rewrite                          |
 * | the same value again   | the wait is not over  | held back                                   |
 * | nothing                | QUIET_PASSES or more  | forgotten, and with it the contention            |
 *
 * From CONTENDED_AFTER_REWRITES rewrites on, until it is forgotten, it is a contention.
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
