import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import { selects } from '../../assign/assignments.ts';
import type { CheckSettings } from '../../assign/checkSettings.ts';
import type { Steps } from '../../localise/steps.ts';
import { FAMILIES, familyOf, type Family } from '../../localise/pairs/quality.ts';
import {
  checkedNodes,
  type AgentView,
  type Asked,
  type ClusterView,
  type MeasurementTimes,
  type NodeView,
} from '../../localise/view.ts';
import type { PeerResult, Target, TargetResult } from '../../protocol/measurement.ts';
import { isAgentAt, type AgentPod } from '../pods/agentPod.ts';
import type { CompactMeasurement } from '../reports/measurements.ts';
import { agentState, graceMs, type LastReport, type PodAge } from './agentState.ts';
import { exclusionOf, type ClusterNode } from './clusterNode.ts';
import type { Roster } from './roster.ts';

/** The last report of a pod. */
export interface PodReport extends LastReport {
  /** The node that the report names. A report without a token may name any node. */
  readonly node: string;
  /** Absent if the agent sends none, or the server was restarted. */
  readonly measurement?: CompactMeasurement | undefined;
  /** Absent without a measurement. */
  readonly times?: MeasurementTimes | undefined;
  readonly authenticated: boolean;
}

/** The input of a view. */
export interface ViewInput {
  readonly roster: Roster;
  readonly reportOf: (pod: string) => PodReport | undefined;
  /** See `Moment`. */
  readonly joinedMs: (node: ClusterNode) => number;
  /** See `Moment`. */
  readonly endedMs: (node: string) => number | undefined;
  /** See `AgentView`. */
  readonly awaited: (node: string, plane: Plane) => readonly string[];
  /** See `AgentView`. */
  readonly watches: (node: string, plane: Plane) => AgentView['watches'];
  /** See `AssignedPeers`. */
  readonly assignedSince: (node: string, plane: Plane) => number | undefined;
  /** See `AgentTime`. */
  readonly ageOf: (pod: AgentPod) => PodAge;
  /** Time since this process started to take reports, by a clock that does not jump, ms. */
  readonly upMs: number;
  readonly serverNode?: string | undefined;
}

/** The view of the nodes that a check selects, at one moment. */
export function* clusterView(input: ViewInput, check: CheckSettings): Steps<ClusterView> {
  const { roster, joinedMs, endedMs, serverNode } = input;
  const nodes = roster.nodes.filter((node) => selects(check, node));
  const moment = { joinedMs, endedMs, settlingMs: 2 * check.intervalMs };
  const agents: AgentView[] = [];
  for (const { name } of nodes) {
    yield;
    for (const plane of check.planes) agents.push(...agentView(input, check, { name, plane }));
  }
  const views = nodes.map((node) => nodeView(node, exclusionOf(node, moment)));
  return {
    nodes: views,
    agents,
    thresholds: { lossPercent: check.lossPercent },
    asked: { planes: check.planes, probes: check.probes, families: familiesOf({ nodes: views }, roster) },
    ...(serverNode !== undefined && { serverNode }),
  };
}

/**
 * The address families of each plane that more than half of its running agents on checked nodes have, and two at least. So many have
 * neighbours in the ring of peers that have the family, too, and a pair measures it. The pairs of fewer may not be assigned.
 */
function familiesOf(view: Pick<ClusterView, 'nodes'>, { agentOf }: Roster): Asked['families'] {
  const nodes = [...checkedNodes(view)];
  const common = (plane: Plane): Family[] => {
    const pods = nodes.flatMap((node) => agentOf(node, plane) ?? []).filter(({ phase }) => phase === 'Running');
    const has = (family: Family, { addresses }: AgentPod) => addresses.some((address) => familyOf(address) === family);
    const least = Math.max(2, Math.floor(pods.length / 2) + 1);
    return FAMILIES.filter((family) => pods.filter((pod) => has(family, pod)).length >= least);
  };
  return { Pod: common('Pod'), Host: common('Host') };
}

function nodeView({ name, zone }: ClusterNode, excluded: NodeView['excluded']): NodeView {
  return { name, ...(zone !== undefined && { zone }), ...(excluded !== undefined && { excluded }) };
}

const NOTHING = { peers: [], targets: [], heard: [] };

/** Returns the view of an agent, or none without a pod: the DaemonSet may leave the node out. */
function agentView(input: ViewInput, check: CheckSettings, at: { name: string; plane: Plane }): AgentView[] {
  const pod = input.roster.agentOf(at.name, at.plane);
  if (pod === undefined) return [];
  const report = input.reportOf(pod.name);
  const { ageMs, runsMs } = input.ageOf(pod);
  const time = { ageMs, runsMs, upMs: input.upMs, graceMs: graceMs(check.intervalMs) };
  const state = agentState(pod, report, time);
  // A measurement of another node does not count for this node.
  const measurement = state === 'Reporting' && report?.node === at.name ? report.measurement : undefined;
  const awaited = measurement === undefined ? [] : input.awaited(at.name, at.plane);
  const watches = input.watches(at.name, at.plane);
  const recent = (state === 'Starting' || state === 'Reporting') && runsMs < 2 * check.intervalMs;
  const own = measurement === undefined ? NOTHING : measured(measurement, input.roster, at.plane, { check, watches });
  const isBlind =
    state === 'Reporting' &&
    !recent &&
    own.peers.length === 0 &&
    mustMeasure(input, check, at, { measurement, times: report?.times, watches });
  return [
    {
      ...{ node: at.name, plane: at.plane, pod: pod.name, state },
      ...(recent && { recent }),
      ...(isBlind && { isBlind }),
      ...(state === 'Broken' && { problem: pod.problem ?? 'its container does not start' }),
      ...(state === 'Silent' && report?.times && { dueAt: report.times.reportedAt + report.intervalMs }),
      ...(measurement !== undefined && report?.times !== undefined && { times: ownTimes(report.times, check.probes) }),
      ...(awaited.length > 0 && { awaited }),
      ...(watches !== undefined && { watches }),
      ...own,
    },
  ];
}

/** A measurement with what decides which of its results count. */
interface OwnMeasurement {
  readonly measurement: CompactMeasurement | undefined;
  readonly times: MeasurementTimes | undefined;
  readonly watches: AgentView['watches'];
}

/**
 * Whether an agent should have a result of another node. Two measurements must have begun since it is assigned peers. Results towards a pod
 * that was just replaced are dropped, and the agent cannot know the new address yet.
 */
function mustMeasure(
  { roster, ageOf, assignedSince }: ViewInput,
  { intervalMs }: CheckSettings,
  { name, plane }: { readonly name: string; readonly plane: Plane },
  { measurement, times, watches }: OwnMeasurement,
): boolean {
  if (measurement === undefined || times === undefined) return true;
  const isReplaced = (node: string): boolean => {
    const pod = roster.agentOf(node, plane);
    return pod !== undefined && (pod.phase !== 'Running' || ageOf(pod).runsMs < 2 * intervalMs);
  };
  if (measurement.peers.some(({ node }) => watches?.(node) !== false && isReplaced(node))) return false;
  const since = assignedSince(name, plane) ?? Infinity;
  return (times.before ?? times).measuredAt > since;
}

/**
 * Returns the results of the check's probes. Leaves out results towards pods that were replaced or deleted: such a failure
 * is of the pod, not of the network. Also leaves out nodes that the server did not assign to the agent: a false agent could
 * report faults of any node.
 */
function measured(
  { peers, targets, heard }: CompactMeasurement,
  roster: Roster,
  plane: Plane,
  { check, watches }: { readonly check: CheckSettings; readonly watches: AgentView['watches'] },
) {
  const own = peers.filter(
    ({ node, address }) => isAgentAt(roster.agentOf(node, plane), address) && watches?.(node) !== false,
  );
  return { ...ownResults({ peers: own, targets }, check.probes), heard };
}

type Probes = CheckSettings['probes'];

/** The probe that asks a target. The kubelet is asked without one: its silence is a fault of the node. */
const PROBE_OF: Readonly<Record<Target, 'dns' | 'apiServer' | undefined>> = {
  DNSUDP: 'dns',
  DNSTCP: 'dns',
  APIServer: 'apiServer',
  Kubelet: undefined,
};

interface Results {
  readonly peers: readonly PeerResult[];
  readonly targets: readonly TargetResult[];
}

/**
 * The results that a check asks for. An agent makes the probes of all checks that select its node, and what one check
 * leaves out must be no finding of it.
 *
 * @returns the same lists, if the check leaves out nothing
 */
function ownResults({ peers, targets }: Results, probes: Probes): Results {
  const isOwn = ({ target }: TargetResult): boolean => {
    const probe = PROBE_OF[target];
    return probe === undefined || probes[probe];
  };
  return {
    peers: probes.mtu ? peers : peers.map(withoutMtu),
    targets: probes.dns && probes.apiServer ? targets : targets.filter(isOwn),
  };
}

/** The same for the measurement before. */
export function ownTimes(times: MeasurementTimes, probes: Probes): MeasurementTimes {
  const { before } = times;
  if (before === undefined || (probes.mtu && probes.dns && probes.apiServer)) return times;
  return { ...times, before: { ...before, ...ownResults(before, probes) } };
}

function withoutMtu(peer: PeerResult): PeerResult {
  if (peer.mtu === undefined) return peer;
  const { node, address, tcp, udp } = peer;
  return { node, address, tcp, udp };
}
