import type { KnownNode } from '../../../nodes/nodeNames.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import type { NodeRestriction } from '../queries.ts';

/** Upper limit of the nodes that a pass asks about by name. */
export const MOST_NODES = 500;

/** Bytes of one query: VictoriaMetrics refuses longer ones (`-search.maxQueryLen`). */
const MOST_BYTES = 16 * 1024;

/** Selects the series of these nodes. */
export function restrictionTo(names: readonly string[], nodes: ReadonlyMap<string, KnownNode>): NodeRestriction {
  const hosts = names.flatMap((name) => [name, ...(nodes.get(name)?.addresses ?? [])]);
  return { names, hosts: [...new Set(hosts)] };
}

/** Selects the series of these nodes by the labels that their series have in the answers: `node` can be an address or a domain name. */
export function restrictionOf(
  names: readonly string[],
  answers: readonly ReadonlyMap<string, NodeSamples>[],
): NodeRestriction {
  const labels = new Set(names);
  const instances = new Set<string>();
  for (const samples of names.flatMap((name) => answers.map((answer) => answer.get(name)))) {
    for (const label of samples?.otherLabels ?? []) labels.add(label);
    for (const instance of samples?.instances ?? []) instances.add(instance);
  }
  instances.delete('');
  return { names: [...labels], instances: [...instances] };
}

/**
 * Splits nodes into groups, so that each query about a group has at most 16 KiB. A group has at least one node, however long its query is.
 *
 * @param queriesOf the queries about some of the nodes, of which the longest counts
 */
export function* groupsForQueries(
  names: readonly string[],
  queriesOf: (some: readonly string[]) => readonly string[],
): Generator<readonly string[]> {
  let size = names.length;
  const next = (begin: number): readonly string[] => names.slice(begin, begin + size);
  const isTooLong = (query: string): boolean => Buffer.byteLength(query) > MOST_BYTES;
  for (let begin = 0; begin < names.length; begin += size) {
    while (size > 1 && queriesOf(next(begin)).some(isTooLong)) size = Math.floor(SHRINK * size);
    yield next(begin);
  }
}

/** Each try has this part of the nodes of the one before: few tries, and a query has at least this part of its bytes. */
const SHRINK = 3 / 4;

/** The first group of groupsForQueries; empty without nodes. */
export function firstInQuery(...[names, queriesOf]: Parameters<typeof groupsForQueries>): readonly string[] {
  const [first = []] = groupsForQueries(names, queriesOf);
  return first;
}
