import { FINDING_CLASSES, type Finding } from '../../api/connectivitycheck/finding.ts';
import { PLANES, type Plane } from '../../api/connectivitycheck/terms.ts';
import { compare, joined } from './evidence.ts';
import { faultsOf } from './faults/faults.ts';
import type { Witness } from './faults/score.ts';
import { groupsOf, type Zones } from './faults/scope.ts';
import { confirmedFaults } from './faults/confirmed.ts';
import type { Target } from '../protocol/measurement.ts';
import { AgentsByPlace, pairsOf, type Pair } from './pairs/pair.ts';
import { familiesOf, type Family } from './pairs/quality.ts';
import { agents, blindAgents, brokenAgents } from './rules/agents.ts';
import { latency, links, mtu, nodes, zones } from './rules/network.ts';
import { apiServer, dns, kubelets } from './rules/services.ts';
import type { Part, Rule, Situation } from './situation.ts';
import { finished, type Steps } from './steps.ts';
import type { ClusterView } from './view.ts';

/** The findings of a cluster, and how many pairs of nodes show them. */
export interface Localisation {
  /** Failed ones first, then by class and subjects. Each class and subjects occur once. */
  readonly findings: readonly Finding[];
  /** Further findings, which stay if they exist, and do not begin: another measurement has to confirm them. */
  readonly unconfirmed: readonly Finding[];
  /** Ordered pairs of nodes and planes in the last reports. */
  readonly observedPairs: number;
  /** Observed pairs that failed, lost packets, or lose large packets. */
  readonly affectedPairs: number;
  /** The places that no pair says anything about, of nodes with an agent: nothing is known of their network. */
  readonly unobserved: readonly Place[];
  /** The services of which a node has no result, although others have: nothing is known of them there. */
  readonly unasked: readonly { readonly node: string; readonly target: Target }[];
  /** The parts of the check of which there is no result at all. */
  readonly unmeasured: readonly Unmeasured[];
}

/**
 * A network, its UDP, its packet sizes or a family of its addresses, or a service: `plane` is absent for a service. `Nodes`: the
 * network of some nodes: `node` is the first of them, and `count` their number.
 */
export interface Unmeasured {
  readonly plane?: Plane;
  readonly of?: Target | Family | 'UDP' | 'MTU' | 'Nodes';
  readonly node?: string;
  readonly count?: number;
}

/** The network of a node. */
export interface Place {
  readonly node: string;
  readonly plane: Plane;
}

const RULES: readonly Rule[] = [
  nodes,
  zones,
  links,
  mtu,
  latency,
  dns,
  apiServer,
  kubelets,
  agents,
  brokenAgents,
  blindAgents,
];

/** Finds the faults of the network that explain the affected pairs. */
export type FaultFinder = typeof faultsOf;

/**
 * Finds the faults that explain what the agents measured. Pure; never throws on data that passed validation.
 *
 * @param find simulations compare faultsOf() with other methods
 */
export function localise(view: ClusterView, find: FaultFinder = faultsOf): Localisation {
  return finished(localiseInSteps(view, find));
}

/** Does the same as localise() in steps, since it takes half a second with 10,000 agents. */
export function* localiseInSteps(view: ClusterView, find: FaultFinder = faultsOf): Steps<Localisation> {
  const situation = yield* situationOf(view, find);
  const parts: (readonly Part[])[] = [];
  for (const rule of RULES) {
    parts.push(rule(situation));
    yield;
  }
  const affected = situation.pairs.filter(({ quality }) => quality !== 'Ok');
  const all = parts.flat();
  return {
    findings: findingsOf(all.filter(({ isUnconfirmed }) => isUnconfirmed !== true)),
    unconfirmed: findingsOf(all.filter(({ isUnconfirmed }) => isUnconfirmed === true)),
    observedPairs: situation.pairs.length,
    affectedPairs: affected.length,
    unobserved: unobservedOf(situation),
    ...unaskedOf(situation),
  };
}

/** The node of a pod that is replaced has no agent on this plane for a moment, and one on the other. */
function unobservedOf({ view, agents: places, pairs }: Pick<Situation, 'view' | 'agents' | 'pairs'>): Place[] {
  const observed: Readonly<Record<Plane, Set<string>>> = { Pod: new Set(), Host: new Set() };
  for (const { plane, from, to } of pairs) observed[plane].add(from).add(to);
  const planes = view.asked?.planes ?? PLANES;
  return [...new Set(places.all().map(({ node }) => node))].flatMap((node) =>
    planes.flatMap((plane) => (observed[plane].has(node) ? [] : [{ node, plane }])),
  );
}

const SERVICES = ['DNSUDP', 'DNSTCP', 'APIServer'] as const;

/** Finds what has no result. An agent that has just started shows only services that answer: see askedBy(). The kubelet is not a part of the spec. */
function unaskedOf(situation: Situation): Pick<Localisation, 'unasked' | 'unmeasured'> {
  const { view, agents, pairs } = situation;
  const { asked } = view;
  if (asked === undefined) return { unasked: [], unmeasured: [] };
  const { planes, probes, families } = asked;
  const services = SERVICES.filter((target) => (target === 'APIServer' ? probes.apiServer : probes.dns));
  const nodes = new Map(agents.all().map(({ node }) => [node, new Set<Target>()]));
  for (const { node, plane, state, recent, targets } of agents.all()) {
    if (state !== 'Reporting') continue;
    if (plane === 'Host') nodes.get(node)?.add('Kubelet');
    for (const { target, ok } of targets) if (ok || recent !== true) nodes.get(node)?.add(target);
  }
  const silent = services.filter((target) => ![...nodes.values()].some((known) => known.has(target)));
  const open = [...services, ...(planes.includes('Host') ? ['Kubelet' as const] : [])].filter(
    (target) => !silent.some((one) => one === target),
  );
  const hasPairs = view.nodes.length > 1;
  const isMeasured = (plane: Plane): boolean =>
    hasPairs
      ? pairs.some((pair) => pair.plane === plane)
      : agents.all().some((agent) => agent.plane === plane && agent.state === 'Reporting');
  return {
    unasked: [...nodes].flatMap(([node, known]) =>
      open.flatMap((target) => (known.has(target) ? [] : [{ node, target }])),
    ),
    unmeasured: [
      ...planes.flatMap((plane): Unmeasured[] => {
        if (!isMeasured(plane)) return [{ plane }];
        const own = pairs.filter((pair) => pair.plane === plane);
        if (!hasPairs) return [];
        return [
          ...missingOf(own, families[plane], probes.mtu).map((of) => ({ plane, of })),
          ...unmeasuredNodes(plane, situation),
        ];
      }),
      ...silent.map((of) => ({ of })),
    ],
  };
}

/**
 * The nodes whose agent on a plane reports, and that no pair names. Other nodes without a pair have a finding, or agents that start
 * or are replaced, or all their peers are left out, as new nodes while the old ones are drained.
 */
function unmeasuredNodes(plane: Plane, { agents, pairs }: Situation): Unmeasured[] {
  const observed = new Set(pairs.flatMap((pair) => (pair.plane === plane ? [pair.from, pair.to] : [])));
  const nodes = agents
    .all()
    .filter((agent) => agent.plane === plane && agent.state === 'Reporting' && agent.recent !== true)
    .flatMap(({ node, peers }) => {
      const isSeen = observed.has(node) || peers.some((peer) => agents.at(peer.node, plane) === undefined);
      return isSeen ? [] : [node];
    })
    .sort(compare);
  const [node] = nodes;
  return node === undefined ? [] : [{ plane, of: 'Nodes', node, count: nodes.length }];
}

/** The protocols and families of a network that none of its pairs measured. */
function missingOf(
  pairs: readonly Pair[],
  families: readonly Family[],
  mtu: boolean,
): Exclude<Unmeasured['of'], undefined | 'Nodes'>[] {
  const known = new Set<Unmeasured['of']>();
  for (const pair of pairs) {
    for (const family of familiesOf(pair)) known.add(family);
    for (const { worst } of pair.families ?? [pair]) {
      if (worst.udp.sent > 0 || worst.udp.error !== undefined) known.add('UDP');
      if (worst.mtu !== undefined) known.add('MTU');
    }
  }
  return (['UDP', ...families, ...(mtu ? ['MTU' as const] : [])] as const).filter((of) => !known.has(of));
}

function* situationOf(view: ClusterView, find: FaultFinder): Steps<Situation> {
  const places = new AgentsByPlace(view);
  const pairs = yield* pairsOf(view, places);
  const zoneOf: Zones = new Map(
    view.nodes.flatMap(({ name, zone }) => (zone === undefined ? [] : [[name, zone] as const])),
  );
  const groups = groupsOf(pairs, zoneOf);
  yield;
  const faults = yield* find(pairs, groups, zoneOf, silentWitness(view, places), view.thresholds.lossPercent);
  const confirmed = yield* confirmedFaults(faults, { pairs, groups, zones: zoneOf, agents: places });
  return { view, agents: places, zones: zoneOf, pairs, faults, confirmed };
}

/**
 * Returns whether a silent agent confirms a fault of its node that only one other node measured. It does not if that other
 * node runs the server: then either of both nodes may be cut.
 */
function silentWitness({ serverNode }: ClusterView, places: AgentsByPlace): Witness {
  return ({ kind, plane, names: [node = ''] }, pairs) =>
    kind === 'Node' &&
    places.at(node, plane)?.state === 'Silent' &&
    pairs.every(({ from }) => from !== node && from !== serverNode);
}

function findingsOf(parts: readonly Part[]): Finding[] {
  const findings = new Map<string, Finding>();
  for (const part of [...parts].sort((a, b) =>
    compare(b.severity === 'Failed' ? '1' : '0', a.severity === 'Failed' ? '1' : '0'),
  )) {
    const key = `${part.class}/${part.subject}`;
    const known = findings.get(key);
    findings.set(key, known === undefined ? first(part) : merged(known, part));
  }
  return [...findings.values()].sort(inOrder);
}

function first({ class: findingClass, subject, severity, message, evidence }: Part): Finding {
  return { class: findingClass, subjects: [subject], severity, message, evidence };
}

/** The parts come with the worst severity first. */
function merged(finding: Finding, { message, evidence }: Part): Finding {
  return { ...finding, message: `${finding.message}; ${message}`, evidence: joined(finding.evidence, evidence) };
}

function inOrder(a: Finding, b: Finding): number {
  const severity = Number(a.severity === 'Degraded') - Number(b.severity === 'Degraded');
  const order = FINDING_CLASSES.indexOf(a.class) - FINDING_CLASSES.indexOf(b.class);
  return severity || order || compare(a.subjects.join(), b.subjects.join());
}
