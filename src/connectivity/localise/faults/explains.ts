import type { AgentsByPlace } from '../pairs/pair.ts';
import type { AgentView, ClusterView } from '../view.ts';
import type { Fault } from './faults.ts';
import type { Zones } from './scope.ts';

/**
 * Whether a fault explains that an agent is silent: the fault lies between the agent's node and the server's node. All
 * reports go over the pod network, also the reports of host agents.
 *
 * | fault | explains |
 * |---|---|
 * | pod network of the agent's node, or the link to the server's | yes |
 * | pod network of the server's node, of a zone of either node, or of all nodes | if most agents beyond it are silent |
 * | host network of the same | as above, agents of the host network only |
 *
 * If most agents beyond a fault do report, the fault lets reports pass: such as loss, which TCP repairs.
 */
export function explainsSilence(
  { serverNode }: ClusterView,
  agents: AgentsByPlace,
  faults: readonly Fault[],
  zones: Zones,
): (agent: AgentView) => boolean {
  const blocks = (fault: Fault, agent: AgentView) =>
    (fault.scope.plane === 'Pod' || agent.plane === 'Host') && separates(fault, agent.node, serverNode, zones);
  const blocking = faults.filter((fault) => {
    if (!isWide(fault, serverNode)) return true;
    const beyond = agents
      .all()
      .filter(({ plane }) => plane === fault.scope.plane)
      .filter((agent) => blocks(fault, agent));
    return beyond.filter(({ state }) => state === 'Reporting').length <= beyond.length / 2;
  });
  return (agent) => blocking.some((fault) => blocks(fault, agent));
}

/** The fault lies between the server and many nodes. */
function isWide({ scope: { kind, names } }: Fault, server: string | undefined): boolean {
  return kind === 'Cluster' || kind === 'Zone' || kind === 'Zones' || (kind !== 'Link' && names[0] === server);
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
