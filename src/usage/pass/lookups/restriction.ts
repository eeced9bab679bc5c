import type { KnownNode } from '../../../nodes/nodeNames.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import { quotedLength, type NodeRestriction } from '../queries.ts';

/** Upper limit of the nodes of one query, because it lists the name of each. */
export const MOST_NODES = 500;

/** Bytes of the labels of nodes in one query: VictoriaMetrics takes queries of 16 KiB (`-search.maxQueryLen`), and the rest needs some. */
const MOST_BYTES = 14 * 1024;

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

/** The first of these nodes: as many as a query can name that has their labels once, see restrictionOf. */
export function firstInQuery(
  names: readonly string[],
  answers: readonly ReadonlyMap<string, NodeSamples>[],
): readonly string[] {
  let bytes = 0;
  const end = names.findIndex((name) => {
    const { names: labels, instances = [] } = restrictionOf([name], answers);
    for (const label of [...labels, ...instances]) bytes += quotedLength(label);
    return bytes > MOST_BYTES;
  });
  return end < 0 ? names : names.slice(0, end);
}
