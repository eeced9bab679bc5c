import { PLANES, type Plane } from '../../../api/connectivitycheck/terms.ts';
import { mtuResult, nextSize, startSearch, withTried } from '../../agent/udp/mtuSearch.ts';
import type { MtuResult, PeerResult, TargetResult } from '../../protocol/measurement.ts';
import { MOST_SLOW_MS } from '../pairs/latency.ts';
import type { Family } from '../pairs/quality.ts';
import type { AgentView, ClusterView } from '../view.ts';
import { peersOf, type Damage, type SimCluster, type SimFault } from './simCluster.ts';

const ADDRESSES: Readonly<Record<Family, string>> = { IPv4: '198.18.0.1', IPv6: 'fd00::1' };
const SENT = 20;
const MTU: Readonly<Record<Plane, number>> = { Pod: 1450, Host: 1500 };
const BACKGROUND = 0.001;
const ROUND_TRIP_MS = 1;
/** Size of a small packet with its headers, bytes. */
const SMALL = 299;
/** Agents do not search for the MTU if a round trip takes half of a step of the search: see `searchMtu`. */
const MTU_SEARCHED_BELOW_MS = 140;

/**
 * Simulates the reports of all agents, and returns the server's view of them. Each datagram, and each answer to it, is
 * lost by chance. An agent whose reports cannot reach the server is Silent.
 */
export function simulate(cluster: SimCluster, faults: readonly SimFault[], random: () => number): ClusterView {
  const network = new Network(cluster, faults, random);
  const agents = PLANES.flatMap((plane) => cluster.nodes.map((_, n) => network.agent(n, plane)));
  const { nodes, serverNode } = cluster;
  return { nodes, serverNode, thresholds: { lossPercent: 5 }, agents: agents.map((agent) => network.known(agent)) };
}

/**
 * All that the server can know of these faults if nothing is left to chance: which agents report, how each pair that they
 * probe is affected, which datagrams are heard, which services answer. Faults with the same text cannot be told apart.
 */
export function observable(cluster: SimCluster, faults: readonly SimFault[]): string {
  return new Network(cluster, faults, () => 0.5).observable();
}

/** Returns the reports of the agents of a node, whether they arrive or not, without the datagrams that the agents hear. */
export function reportsOf(
  cluster: SimCluster,
  node: string,
  faults: readonly SimFault[],
  random: () => number,
): AgentView[] {
  const network = new Network(cluster, faults, random);
  const index = cluster.nodes.findIndex(({ name }) => name === node);
  return PLANES.map((plane) => network.agent(index, plane));
}

interface Path {
  readonly cut: boolean;
  readonly loss: number;
  readonly above: number;
  readonly delayMs: number;
}

type Damaging = Extract<SimFault, { does: Damage }>;

function damaging(faults: readonly SimFault[]): Damaging[] {
  return faults.filter((fault) => 'does' in fault);
}

const CLEAR: Path = { cut: false, loss: BACKGROUND, above: Infinity, delayMs: 0 };

class Network {
  private readonly cluster: SimCluster;
  private readonly faults: readonly SimFault[];
  private readonly random: () => number;
  private readonly families: readonly [Family, ...Family[]];
  private readonly zones: ReadonlyMap<string, string | undefined>;
  private readonly interfaces: readonly Extract<SimFault, { at: 'interface' }>[];
  private readonly damages: Readonly<Record<Plane, readonly Damaging[]>>;
  private readonly heard = new Map<string, Set<string>>();

  constructor(cluster: SimCluster, faults: readonly SimFault[], random: () => number) {
    this.cluster = cluster;
    this.faults = faults;
    this.interfaces = faults.filter((fault) => fault.at === 'interface');
    this.random = random;
    const [first = 'IPv4', ...others] = cluster.families ?? [];
    this.families = [first, ...others];
    const on = (plane: Plane) => damaging(faults).filter(({ planes }) => planes?.includes(plane) ?? true);
    this.damages = { Pod: on('Pod'), Host: on('Host') };
    this.zones = new Map(cluster.nodes.map(({ name, zone }) => [name, zone]));
  }

  agent(index: number, plane: Plane): AgentView {
    const node = this.cluster.nodes[index]!.name;
    const killed = this.killed(node, plane);
    const probed = killed ? [] : peersOf(this.cluster.nodes, index);
    const peers = probed.flatMap(({ name }) => this.families.map((family) => this.probe(node, name, plane, family)));
    return {
      node,
      plane,
      pod: `${plane.toLowerCase()}-${node}`,
      state: 'Reporting',
      peers,
      targets: this.targets(node, plane),
      heard: [],
    };
  }

  /** Returns the server's view of an agent. */
  known(agent: AgentView): AgentView {
    const arrives = !this.killed(agent.node, agent.plane) && this.reports(agent.node, agent.plane);
    if (!arrives) return { ...agent, state: 'Silent', peers: [], targets: [], heard: [] };
    return { ...agent, heard: [...(this.heard.get(`${agent.plane}/${agent.node}`) ?? [])] };
  }

  observable(): string {
    const lines = PLANES.flatMap((plane) => this.cluster.nodes.map((_, index) => this.line(index, plane)));
    return lines.join('\n');
  }

  private line(index: number, plane: Plane): string {
    const { name } = this.cluster.nodes[index]!;
    if (this.killed(name, plane) || !this.reports(name, plane)) return 'silent';
    const words = peersOf(this.cluster.nodes, index).map((peer) => this.word(name, peer.name, plane));
    const failing = this.targets(name, plane).filter(({ ok }) => !ok);
    return [...words, ...failing.map(({ target }) => target)].join(' ');
  }

  /** How the pair is affected, and, if it is cut over all families, whether each side hears the other. */
  private word(from: string, to: string, plane: Plane): string {
    const words = this.families.map((family) => this.wordOver(from, to, plane, family));
    if (words.some((word) => word !== 'failed')) return words.join('/');
    const isOpen = this.families.some((family) => !this.path(from, to, plane, family).cut);
    const hears = isOpen && this.reports(to, plane) && !this.killed(to, plane);
    return `failed ${hears} ${this.hearsBack(to, from, plane)}`;
  }

  private wordOver(from: string, to: string, plane: Plane, family: Family): string {
    const [forth, back] = [this.path(from, to, plane, family), this.path(to, from, plane, family)];
    if (forth.cut || back.cut) return 'failed';
    if (this.killed(to, plane)) return 'refused';
    const loss = forth.loss > BACKGROUND || back.loss > BACKGROUND;
    if (loss) return 'lossy';
    if (ROUND_TRIP_MS + forth.delayMs + back.delayMs >= MOST_SLOW_MS) return 'slow';
    const { interface: own, largest } = this.mtu(from, to, plane, forth, back) ?? {};
    return `ok ${own} ${largest}`;
  }

  private hearsBack(peer: string, own: string, plane: Plane): boolean {
    const probes = peersOf(
      this.cluster.nodes,
      this.cluster.nodes.findIndex(({ name }) => name === peer),
    );
    const isOpen = this.families.some((family) => !this.path(peer, own, plane, family).cut);
    return probes.some(({ name }) => name === own) && isOpen && !this.killed(peer, plane);
  }

  private killed(node: string, plane: Plane): boolean {
    return this.faults.some((fault) => fault.at === 'agent' && fault.node === node && fault.plane === plane);
  }

  private reports(node: string, plane: Plane): boolean {
    const server = this.cluster.serverNode;
    if (node === server) return true;
    const arrives = (path: Path) => !path.cut && !(this.cluster.largeReports === true && path.above < MTU.Pod);
    const viaPods = plane === 'Pod' || this.cluster.overlay === true;
    if (viaPods) return arrives(this.path(node, server, 'Pod')) && arrives(this.path(server, node, 'Pod'));
    // Without an overlay only the server's side is on the pod network.
    if (!this.faults.some((fault) => fault.at === 'node' && fault.node === node)) {
      return arrives(this.path(node, server, 'Pod')) && arrives(this.path(server, node, 'Pod'));
    }
    const ends = this.faults.filter((fault) => !(fault.at === 'node' && fault.node === node));
    const rest = new Network(this.cluster, ends, this.random);
    return arrives(rest.path(node, server, 'Pod')) && arrives(rest.path(server, node, 'Pod'));
  }

  private path(from: string, to: string, plane: Plane, family: Family = this.families[0]): Path {
    let path = CLEAR;
    for (const fault of this.damages[plane]) {
      if (fault.families?.includes(family) === false || !this.affects(fault, from, to)) continue;
      const { does } = fault;
      if (does === 'cut') path = { ...path, cut: true };
      else if ('loss' in does) path = { ...path, loss: 1 - (1 - path.loss) * (1 - does.loss) };
      else if ('delayMs' in does) path = { ...path, delayMs: path.delayMs + does.delayMs };
      else path = { ...path, above: Math.min(path.above, does.above) };
    }
    return path;
  }

  private affects(fault: Damaging, from: string, to: string): boolean {
    const [a, b] = [this.zones.get(from), this.zones.get(to)];
    if (fault.at === 'node') {
      return (fault.way !== 'In' && fault.node === from) || (fault.way !== 'Out' && fault.node === to);
    }
    if (fault.at === 'zone') return a !== b && (a === fault.zone || b === fault.zone);
    if (fault.at === 'zones') return a !== b && fault.zones.includes(a!) && fault.zones.includes(b!);
    if (fault.at !== 'link') return true;
    return (
      (fault.from === from && fault.to === to) || (fault.oneWay !== true && fault.from === to && fault.to === from)
    );
  }

  private probe(from: string, to: string, plane: Plane, family: Family): PeerResult {
    const [forth, back] = [this.path(from, to, plane, family), this.path(to, from, plane, family)];
    const address = ADDRESSES[family];
    if (this.killed(to, plane) && !forth.cut && !back.cut) return refusal(to, address);
    const arrived = forth.cut ? 0 : SENT - this.losses(SENT, forth.loss);
    const received = back.cut ? 0 : arrived - this.losses(arrived, back.loss);
    this.hear(from, to, plane, arrived);
    const loss = 1 - (1 - forth.loss) * (1 - back.loss);
    // Three retries of a SYN within the timeout.
    const ok = !forth.cut && !back.cut && this.random() >= loss ** 3;
    const ms = ROUND_TRIP_MS + forth.delayMs + back.delayMs;
    const udp = { sent: SENT, received, ...(received > 0 && { ms }) };
    // The handshake, then the request and its response.
    const tcp = ok ? { ok, ms: 2 * ms } : { ok, error: 'Timeout' as const };
    const mtu = received > 0 ? this.mtu(from, to, plane, forth, back) : undefined;
    return { node: to, address, tcp, udp, ...(mtu !== undefined && { mtu }) };
  }

  private mtuOf(node: string, plane: Plane): number {
    const other = this.interfaces.find((fault) => fault.node === node && (fault.planes?.includes(plane) ?? true));
    return other?.mtu ?? MTU[plane];
  }

  /** The largest packet that passes, as an agent searches for it. Undefined if it does not search. */
  private mtu(from: string, to: string, plane: Plane, forth: Path, back: Path): MtuResult | undefined {
    if (ROUND_TRIP_MS + forth.delayMs + back.delayMs > MTU_SEARCHED_BELOW_MS) return undefined;
    const passes = Math.min(forth.above, back.above, this.mtuOf(to, plane));
    let search = startSearch(this.mtuOf(from, plane), SMALL);
    for (let size = nextSize(search); size !== undefined; size = nextSize(search)) {
      search = withTried(search, size, size <= passes);
    }
    return mtuResult(search);
  }

  /** How many of so many datagrams are lost. It draws the gaps between losses, most of which are longer than a run. */
  private losses(sent: number, share: number): number {
    const scale = Math.log(1 - share);
    let lost = 0;
    for (let n = this.gap(scale); n < sent; n += 1 + this.gap(scale)) lost += 1;
    return lost;
  }

  private gap(scale: number): number {
    return Math.floor(Math.log(1 - this.random()) / scale);
  }

  private hear(from: string, to: string, plane: Plane, count: number): void {
    if (count === 0) return;
    const place = `${plane}/${to}`;
    const known = this.heard.get(place);
    if (known === undefined) this.heard.set(place, new Set([from]));
    else known.add(from);
  }

  private targets(node: string, plane: Plane): TargetResult[] {
    const fails = (at: SimFault['at']) =>
      this.faults.some(
        (fault) => fault.at === at && (!('node' in fault) || fault.node === undefined || fault.node === node),
      );
    const result = (target: TargetResult['target'], address: string, failed: boolean): TargetResult =>
      failed ? { target, address, ok: false, error: 'Timeout' } : { target, address, ok: true, ms: 1 };
    const targets = [
      result('DNSUDP', '198.18.1.10:53', fails('dns')),
      result('DNSTCP', '198.18.1.10:53', fails('dns')),
      result('APIServer', '198.18.1.1:443', fails('apiServer')),
    ];
    return plane === 'Host' ? [...targets, result('Kubelet', '127.0.0.1:10248', fails('kubelet'))] : targets;
  }
}

function refusal(node: string, address: string): PeerResult {
  return { node, address, tcp: { ok: false, error: 'Refused' }, udp: { sent: SENT, received: 0, error: 'Refused' } };
}
