import { PLANES, type Plane } from '../../api/connectivitycheck/terms.ts';
import { MOST_ASSIGNED_URLS } from '../protocol/limits.ts';
import type { Assignment } from '../protocol/measurement.ts';
import { combined, shortestMs, urlsOf, type CheckSettings } from './checkSettings.ts';
import { ringOf, ringOffsets, rotationStep, sharesOf, type RingNode } from './ring.ts';

/** A node that checks may select. */
export interface AssignableNode extends RingNode {
  readonly labels: Readonly<Record<string, string>>;
}

/** The input of the assignment of peers. */
export interface AssignmentInput {
  readonly nodes: readonly AssignableNode[];
  readonly checks: readonly CheckSettings[];
  /** Whether an agent runs on the node and plane, so that it can answer. */
  readonly canAnswer: (node: string, plane: Plane) => boolean;
  /** Wall clock, ms. */
  readonly now: number;
}

/** The assignment of the agent of a node and plane. */
export interface PlannedAssignment extends Omit<Assignment, 'peers'> {
  /** Nodes whose agents it probes, each once. */
  readonly peers: readonly string[];
}

/** Checks whose agents probe fewer peers than the checks ask for. */
export interface ReducedPeers {
  readonly checks: readonly string[];
  readonly plane: Plane;
  readonly asked: number;
  readonly given: number;
}

/** The assignments of all agents at one time. */
export interface AssignmentPlan {
  /** Returns the assignment of the agent of a node and plane. Its cost does not depend on the number of nodes. */
  readonly of: (node: string, plane: Plane) => PlannedAssignment;
  /** The URLs that the agent of a node and plane requests, as in `of`. */
  readonly urlsOf: (node: string, plane: Plane) => readonly string[];
  /** Whether a check selects both nodes on the plane. */
  readonly isChecked: (from: string, to: string, plane: Plane) => boolean;
  readonly reduced: readonly ReducedPeers[];
}

/** The nodes of one check on one plane, or of several that select the same nodes. */
interface Ring {
  readonly names: readonly string[];
  readonly places: ReadonlyMap<string, number>;
  readonly offsets: readonly number[];
}

/**
 * The most peers of an agent, without the peers of suspect links: see `MOST_LINKS_OF_NODE`. Agents accept 64 peers, and a
 * report has at most 128 results: two addresses for each.
 */
export const MOST_PEERS = 50;

/**
 * Assigns peers: each check has a ring of the nodes that it selects and that can answer. Checks that select the same
 * nodes share one, with the most peers of them. A node in several rings probes its peers in all of them, up to 50. If the
 * rings ask for more, each of them has fewer peers, and takes longer to cover all pairs: see `sharesOf`.
 */
export function planAssignments(input: AssignmentInput): AssignmentPlan {
  const plans = { Pod: planOf(input, 'Pod'), Host: planOf(input, 'Host') };
  const nodes = new Map(input.nodes.map((node) => [node.name, node]));
  const checksOf = (plane: Plane, ...names: readonly string[]): CheckSettings[] => {
    const selected = names.map((name) => nodes.get(name));
    return input.checks.filter(
      (check) => check.planes.includes(plane) && selected.every((node) => node !== undefined && selects(check, node)),
    );
  };
  return {
    of: (name, plane) => ({ ...combined(checksOf(plane, name)), peers: peersOf(plans[plane].rings, name) }),
    urlsOf: (name, plane) => urlsOf(checksOf(plane, name)).requested,
    isChecked: (from, to, plane) => checksOf(plane, from, to).length > 0,
    reduced: [...plans.Pod.reduced, ...plans.Host.reduced],
  };
}

/** Whether a check selects a node. */
export function selects(check: CheckSettings, { labels }: Pick<AssignableNode, 'labels'>): boolean {
  return check.selects((key) => (Object.hasOwn(labels, key) ? labels[key] : undefined));
}

/** Checks that select the same nodes. */
interface Selection {
  /** In the order of their ring. */
  readonly names: readonly string[];
  readonly checks: readonly CheckSettings[];
}

function planOf(input: AssignmentInput, plane: Plane): { rings: readonly Ring[]; reduced: readonly ReducedPeers[] } {
  const selections = selectionsOf(input, plane).map((one) => ({ ...one, peers: mostPeers(one.checks) }));
  const shares = sharesOf(selections, MOST_PEERS);
  const rings = selections.map((selection, index) => ring(selection, shares[index] ?? 0, input.now));
  const reduced = selections.flatMap(({ names, checks, peers }, index): ReducedPeers[] => {
    const [asked, given] = [Math.min(peers, names.length - 1), shares[index] ?? 0];
    return given < asked ? [{ checks: checks.map(({ name }) => name), plane, asked, given }] : [];
  });
  return { rings, reduced };
}

function selectionsOf({ nodes, checks, canAnswer }: AssignmentInput, plane: Plane): Selection[] {
  const answering = nodes.filter(({ name }) => canAnswer(name, plane));
  const bySelection = new Map<string, Selection>();
  for (const check of checks.filter(({ planes }) => planes.includes(plane))) {
    const names = ringOf(answering.filter((node) => selects(check, node)));
    const key = names.join();
    bySelection.set(key, { names, checks: [...(bySelection.get(key)?.checks ?? []), check] });
  }
  return [...bySelection.values()];
}

function mostPeers(checks: readonly CheckSettings[]): number {
  return Math.max(...checks.map(({ peers }) => peers));
}

function ring({ names, checks }: Selection, peers: number, now: number): Ring {
  const offsets = ringOffsets(names.length, peers, rotationStep(now, shortestMs(checks)));
  return { names, offsets, places: new Map(names.map((name, place) => [name, place])) };
}

function peersOf(rings: readonly Ring[], node: string): string[] {
  const peers = rings.flatMap(({ names, places, offsets }) => {
    const place = places.get(node);
    return place === undefined ? [] : offsets.flatMap((offset) => names[(place + offset) % names.length] ?? []);
  });
  return [...new Set(peers)];
}

/** URLs that checks ask for, and that no agent of some nodes requests. */
interface LeftOutUrls {
  /** How many URLs an agent requests at most. */
  readonly limit: number;
  /** How many URLs are left out on a node or more. */
  readonly count: number;
  /** These URLs, the first ones. */
  readonly urls: readonly string[];
  /** The checks that ask for them, sorted. */
  readonly checks: readonly string[];
  /** How many nodes are affected. */
  readonly nodes: number;
}

/** URLs that are named in a line of the log. */
const NAMED = 20;

/** The URLs that agents do not request, since the checks of their node ask for too many; undefined if all are requested. */
export function leftOutUrls({ nodes, checks }: Pick<AssignmentInput, 'nodes' | 'checks'>): LeftOutUrls | undefined {
  // Nearly always: then nothing has to be known of the nodes.
  if (urlsOf(checks).leftOut.length === 0) return undefined;
  const affected = new Set<string>();
  const urls = new Set<string>();
  for (const plane of PLANES) {
    for (const node of nodes) {
      const { leftOut } = urlsOf(checks.filter((check) => check.planes.includes(plane) && selects(check, node)));
      if (leftOut.length > 0) affected.add(node.name);
      for (const url of leftOut) urls.add(url);
    }
  }
  if (urls.size === 0) return undefined;
  const asking = checks.filter((check) => check.urls.some((url) => urls.has(url))).map(({ name }) => name);
  return {
    ...{ limit: MOST_ASSIGNED_URLS, count: urls.size, urls: [...urls].slice(0, NAMED) },
    ...{ checks: asking.sort(), nodes: affected.size },
  };
}
