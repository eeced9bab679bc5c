import type { Plane } from '../../api/connectivitycheck/terms.ts';
import type { Assignment } from '../protocol/measurement.ts';
import { combined, shortestMs, type CheckSettings } from './checkSettings.ts';
import { ringOffsets } from './offsets.ts';
import { ringOf, type RingNode } from './ring.ts';
import { rotationStep } from './step.ts';

/** A node that checks may select. */
export interface AssignableNode extends RingNode {
  readonly labels: Readonly<Record<string, string>>;
}

/** What the assignment of peers needs. */
export interface AssignmentInput {
  readonly nodes: readonly AssignableNode[];
  readonly checks: readonly CheckSettings[];
  /** Whether an agent runs on the node and plane, so that it can answer. */
  readonly canAnswer: (node: string, plane: Plane) => boolean;
  /** Wall clock, ms. */
  readonly now: number;
}

/** What the agent of a node and plane is to do. */
export interface PlannedAssignment extends Omit<Assignment, 'peers'> {
  /** Nodes whose agents it probes, each once. */
  readonly peers: readonly string[];
}

/** The nodes of one check on one plane, or of several that select the same nodes. */
interface Ring {
  readonly names: readonly string[];
  readonly places: ReadonlyMap<string, number>;
  readonly offsets: readonly number[];
}

/** The results of a report are bounded: 50 peers with two addresses each are 100. */
const MOST_PEERS = 50;

/**
 * Assigns peers: each check has a ring of the nodes that it selects and that can answer. Checks that select the same
 * nodes share one, with the most peers of them. A node in several rings probes its peers in all of them, up to 50.
 *
 * @returns a function whose cost does not depend on the number of nodes
 */
export function planAssignments(input: AssignmentInput): (node: string, plane: Plane) => PlannedAssignment {
  const rings = { Pod: ringsOf(input, 'Pod'), Host: ringsOf(input, 'Host') };
  const nodes = new Map(input.nodes.map((node) => [node.name, node]));
  return (name, plane) => {
    const node = nodes.get(name);
    const checks = input.checks.filter((check) => check.planes.includes(plane) && node && selects(check, node));
    return { ...combined(checks), peers: peersOf(rings[plane], name) };
  };
}

/** Whether a check selects a node. */
export function selects(check: CheckSettings, { labels }: Pick<AssignableNode, 'labels'>): boolean {
  return check.selects((key) => (Object.hasOwn(labels, key) ? labels[key] : undefined));
}

function ringsOf({ nodes, checks, canAnswer, now }: AssignmentInput, plane: Plane): Ring[] {
  const answering = nodes.filter(({ name }) => canAnswer(name, plane));
  const bySelection = new Map<string, { names: string[]; checks: CheckSettings[] }>();
  for (const check of checks.filter(({ planes }) => planes.includes(plane))) {
    const names = ringOf(answering.filter((node) => selects(check, node)));
    const key = names.join();
    bySelection.set(key, { names, checks: [...(bySelection.get(key)?.checks ?? []), check] });
  }
  return [...bySelection.values()].map((selection) => ring(selection.names, selection.checks, now));
}

function ring(names: readonly string[], checks: readonly CheckSettings[], now: number): Ring {
  const most = Math.max(...checks.map(({ peers }) => peers));
  const offsets = ringOffsets(names.length, most, rotationStep(now, shortestMs(checks)));
  return { names, offsets, places: new Map(names.map((name, place) => [name, place])) };
}

function peersOf(rings: readonly Ring[], node: string): string[] {
  const peers = rings.flatMap(({ names, places, offsets }) => {
    const place = places.get(node);
    return place === undefined ? [] : offsets.flatMap((offset) => names[(place + offset) % names.length] ?? []);
  });
  return [...new Set(peers)].slice(0, MOST_PEERS);
}
