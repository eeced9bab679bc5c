import { Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { TrafficWatchSpec } from '../../../../api/trafficwatch/schema.ts';
import { placementOf } from '../../../../api/trafficwatch/spec/placement.ts';
import type { PlannedEvent } from '../../../../runtime/controller/conditions.ts';

/**
 * How long evictions are counted before the first event: ms. A descheduler evicts the pods of a node one after the other,
 * and their containers take some seconds to end.
 */
const TOGETHER_MS = 10_000;
/** At most one event of a TrafficWatch in this time: ms. A descheduler runs every five minutes by default. */
const EVERY_MS = 10 * 60_000;
/** Maximum number of nodes that an event names. */
const NAMED_AT_MOST = 5;

/** Pods of a TrafficWatch that were evicted from unfit nodes and that no event has reported yet. */
export interface Evictions {
  readonly pods: number;
  /** The number of pods by node, of the first NAMED_AT_MOST nodes. */
  readonly nodes: ReadonlyMap<string, number>;
  /** When the first of them was seen: ms since the epoch. */
  readonly since: number;
}

/** Adds an evicted pod. */
export function withEviction(before: Evictions | undefined, node: string, now: number): Evictions {
  const { pods, nodes, since } = before ?? { pods: 0, nodes: new Map<string, number>(), since: now };
  const isNamed = nodes.has(node) || nodes.size < NAMED_AT_MOST;
  return { pods: pods + 1, nodes: isNamed ? new Map([...nodes, [node, (nodes.get(node) ?? 0) + 1]]) : nodes, since };
}

/**
 * The event for evictions; undefined if it is too early.
 *
 * | first eviction | last event           | event |
 * |----------------|----------------------|-------|
 * | within 10 s    | any                  | no    |
 * | before         | within 10 minutes    | no    |
 * | before         | before, or never     | yes   |
 *
 * @param toldAt when the last such event was emitted, ms since the epoch; undefined if never
 */
export function decideEvictionEvent(o: {
  evictions: Evictions;
  toldAt: number | undefined;
  spec: TrafficWatchSpec;
  now: number;
}): PlannedEvent | undefined {
  const { evictions, toldAt = -Infinity, spec, now } = o;
  if (now - evictions.since < TOGETHER_MS || now - toldAt < EVERY_MS) return undefined;
  return { type: 'Warning', reason: Reason.PodsEvicted, note: `${whatHappened(evictions)}; ${whatToDo(spec)}` };
}

function whatHappened({ pods, nodes }: Evictions): string {
  const named = [...nodes].map(([node, count]) => `${node} (${count})`);
  const others = pods - [...nodes.values()].reduce((sum, count) => sum + count, 0);
  const from = [...named, ...(others > 0 ? [`others (${others})`] : [])].join(', ');
  return `${pods} ${pods === 1 ? 'pod was' : 'pods were'} evicted from ${nodes.size === 1 ? 'an unfit node' : 'unfit nodes'}: ${from}`;
}

function whatToDo(spec: TrafficWatchSpec): string {
  const exclude = 'exclude the pods from its plugin RemovePodsViolatingNodeAffinity (docs/descheduler.md)';
  if (placementOf(spec) === 'Required') {
    // spec.deployment cannot have AtCreation.
    const others = spec.deployment === undefined ? 'AtCreation or Preferred' : 'Preferred';
    return `to keep a descheduler from moving pods, set spec.placement to ${others}, or ${exclude}`;
  }
  return `to keep a descheduler from moving pods, remove preferredDuringSchedulingIgnoredDuringExecution from its nodeAffinityType, or ${exclude}`;
}
