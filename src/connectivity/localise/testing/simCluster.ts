import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { Family } from '../pairs/quality.ts';
import type { NodeView } from '../view.ts';

/** A fault that is injected. `planes` absent: both; `families` absent: all. */
export type SimFault = { readonly planes?: readonly Plane[]; readonly families?: readonly Family[] } & (
  | {
      readonly at: 'node';
      readonly node: string;
      readonly does: Damage;
      /** The fault affects packets to the node (In) or from it (Out). Absent: both. */
      readonly way?: 'In' | 'Out';
    }
  /** The interface of the node has another MTU, bytes: it sends no larger packet, and drops larger packets that it receives. */
  | { readonly at: 'interface'; readonly node: string; readonly mtu: number }
  | {
      readonly at: 'link';
      readonly from: string;
      readonly to: string;
      readonly oneWay?: boolean;
      readonly does: Damage;
    }
  | { readonly at: 'zone'; readonly zone: string; readonly does: Damage }
  | { readonly at: 'zones'; readonly zones: readonly [string, string]; readonly does: Damage }
  | { readonly at: 'cluster'; readonly does: Damage }
  | { readonly at: 'dns' | 'apiServer'; readonly node?: string }
  | { readonly at: 'agent'; readonly node: string; readonly plane: Plane }
  | { readonly at: 'kubelet'; readonly node: string }
);

/** Drop everything, a share of the datagrams, or packets above a size; or deliver packets late. */
export type Damage = 'cut' | { readonly loss: number } | { readonly above: number } | { readonly delayMs: number };

export interface SimCluster {
  readonly nodes: readonly NodeView[];
  readonly serverNode: string;
  /** The family of each address of an agent. Reports go over the first address. Absent: IPv4. */
  readonly families?: readonly Family[];
  /** Reports of host agents use the overlay of the pod network as well. */
  readonly overlay?: boolean;
  /** Reports do not fit into a packet that a fault of the MTU lets pass. */
  readonly largeReports?: boolean;
}

const PEERS = 10;

/** A cluster whose zones take turns. */
export function clusterOf(size: number, zones = 1, changes: Partial<SimCluster> = {}): SimCluster {
  const nodes = Array.from({ length: size }, (_, n) => ({ name: `node${n + 1}`, zone: `zone${(n % zones) + 1}` }));
  return { nodes, serverNode: 'node1', ...changes };
}

/** The zones take turns along the ring, so that the next ten nodes are of all zones. */
export function peersOf(nodes: readonly NodeView[], index: number): NodeView[] {
  const k = Math.min(nodes.length - 1, PEERS);
  return Array.from({ length: k }, (_, n) => nodes[(index + 1 + n) % nodes.length]!);
}
