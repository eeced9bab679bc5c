import type { AgentView, ClusterView } from '../view.ts';
import type { Fault } from './faults.ts';
import type { Zones } from './scope.ts';

/**
 * Whether a fault explains that an agent is silent: it lies between its node and that of the server. Reports go over the
 * pod network, those of host agents, too.
 *
 * | fault | explains |
 * |---|---|
 * | pod network of the agent's node, or of the server's | yes |
 * | host network of the same | agents of the host network |
 * | link between both nodes, zone of one of both | as above |
 */
export function explainsSilence({ serverNode }: ClusterView, faults: readonly Fault[], zones: Zones) {
  return (agent: AgentView): boolean =>
    faults.some(
      (fault) =>
        (fault.scope.plane === 'Pod' || agent.plane === 'Host') && separates(fault, agent.node, serverNode, zones),
    );
}

function separates({ scope }: Fault, node: string, server: string | undefined, zones: Zones): boolean {
  const { kind, names } = scope;
  if (kind === 'Cluster') return true;
  if (kind === 'Link') return server !== undefined && node !== server && names.includes(node) && names.includes(server);
  if (kind === 'Node' || kind === 'NodeIn' || kind === 'NodeOut') {
    return names[0] === node || (names[0] === server && node !== server);
  }
  const [own, servers] = [zones.get(node), server === undefined ? undefined : zones.get(server)];
  const within = [own, servers].filter((zone) => zone !== undefined && names.includes(zone));
  return own !== servers && within.length === names.length;
}

/**
 * Whether a fault of the network may explain that agents of a node do not reach a service: the pods of the service may be
 * anywhere.
 *
 * | fault | explains |
 * |---|---|
 * | network of the node, or of all nodes | yes |
 * | zone of the node | if no node of the zone reaches the service |
 * | link | no: it is not known whether a pod of the service runs at its other end |
 */
export function explainsServices(
  faults: readonly Fault[],
  zones: Zones,
  works: (node: string) => boolean,
): (node: string) => boolean {
  const scopes = faults.map(({ scope }) => scope).filter(({ kind }) => kind !== 'Link');
  const everywhere = scopes.some(({ kind }) => kind === 'Cluster');
  const cutZones = new Set(scopes.flatMap(({ kind, names }) => (kind.startsWith('Zone') ? names : [])));
  const nodes = new Set(scopes.flatMap(({ kind, names }) => (kind.startsWith('Node') ? names : [])));
  for (const [node, zone] of zones) if (cutZones.has(zone) && !nodes.has(node) && works(node)) cutZones.delete(zone);
  return (node) => everywhere || nodes.has(node) || cutZones.has(zones.get(node) ?? '');
}
