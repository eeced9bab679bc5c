import type { KnownNode } from '../../../nodes/nodeNames.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import type { NodeRestriction } from '../queries.ts';

/** Upper limit of the nodes of one query, because it lists the name of each. */
export const MOST_NODES = 500;

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
