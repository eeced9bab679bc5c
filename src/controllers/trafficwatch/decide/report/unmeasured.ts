import type { NodeStatus } from '../../../../api/trafficwatch/nodeStatus.ts';
import { cut, firstOf } from '../../../../runtime/status/cut.ts';
import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';
import type { Snapshot } from '../../../../usage/evaluate/snapshot.ts';
import type { NodeView } from '../../observe/observation.ts';
import type { NodeVerdict } from '../verdict/nodeVerdict.ts';

/** Maximum number of nodes or series that a message names. It only counts the others. */
const NAMED_AT_MOST = 5;
/** Maximum number of reasons that the message of a condition explains. */
const EXPLAINED_AT_MOST = 3;

/** Maximum length of the text of one problem, in characters, with the "…" at its end: it may quote labels of others. */
export const LONGEST_PROBLEM = 601;

/** Joins the first names, and counts the others. */
export function named(list: readonly string[]): string {
  return firstOf(list, NAMED_AT_MOST);
}

/**
 * Names the nodes without figures and their reasons, then says of the first node of each reason what is wrong and what to do:
 * "no data for a (NoCapacity), b (NoSeries); a: the capacity is unknown …". NoSeries has nothing to add.
 */
export function describeUnmeasured(nodes: readonly Pick<NodeView, 'name'>[], { nodes: usages }: Snapshot): string {
  const those = nodes.map(({ name }) => ({ name, ...explained(usages.get(name)) }));
  those.sort((a, b) => (a.name < b.name ? -1 : 1));
  const first = new Map<string, string>();
  for (const { name, reason, message } of those) {
    if (reason !== 'NoSeries' && message !== undefined && !first.has(reason))
      first.set(reason, `${name}: ${cut(message, LONGEST_PROBLEM)}`);
  }
  const names = named(those.map(({ name, reason }) => `${name} (${reason})`));
  return [`no data for ${names}`, ...[...first.values()].slice(0, EXPLAINED_AT_MOST)].join('; ');
}

function explained(usage: NodeUsage | undefined): Pick<NodeUsage, 'reason' | 'message'> {
  return usage ?? { reason: 'NoSeries' };
}

/**
 * Why a node has no figure, and what to do, for its entry in the status. Undefined if it has a figure and a verdict.
 *
 * @param usage of the newest pass; undefined if the pass failed
 */
export function whyUnknown(usage: NodeUsage | undefined, { verdict, message }: NodeVerdict): NodeStatus['message'] {
  if (usage?.percent === undefined && usage?.message !== undefined)
    return cut(usage.message, LONGEST_PROBLEM) + newestOf(usage);
  return verdict === 'Unknown' ? cut(message, LONGEST_PROBLEM) : undefined;
}

function newestOf({ newestSeconds }: NodeUsage): string {
  const newest = new Date((newestSeconds ?? NaN) * 1000);
  return Number.isNaN(newest.getTime()) ? '' : `; it is of ${newest.toISOString().slice(0, 19)}Z`;
}
