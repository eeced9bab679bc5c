import { StackReason } from '../../api/trafficstack/reasons.ts';
import {
  TRAFFIC_STACKS,
  type ComponentSpec,
  type InventoryEntry,
  type InventoryObject,
  type TrafficStack,
  type TrafficStackStatus,
} from '../../api/trafficstack/trafficStack.ts';
import { addFinalizer, hasFinalizer } from '../../runtime/apply/finalizer.ts';
import type { Overlay } from '../../runtime/cache/overlay.ts';
import type { Client } from '../../runtime/client/client.ts';
import { conditionEvents, STANDARD_TYPES, type ConditionRules } from '../../runtime/controller/conditions.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import { idFor } from '../../runtime/objectSet/objectSet.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Failure } from '../../runtime/process/problem.ts';
import { report, type StatusWriter } from '../../runtime/status/statusWriter.ts';
import { writtenBy } from './act/act.ts';
import { componentEvents } from './decide/componentEvents.ts';
import type { StackPlan } from './decide/plan.ts';
import { firstStatus, statusOf, undecidedStatus } from './decide/status.ts';
import type { TrafficStackMetrics } from './metrics.ts';
import { FIELD_MANAGER, FINALIZER } from './names.ts';

/** The dependencies of a status write. */
export interface Reporting {
  /** Writes only while the process is the leader. */
  readonly client: Client;
  readonly stacks: Pick<Overlay<TrafficStack>, 'wrote'>;
  readonly statuses: Pick<StatusWriter<TrafficStack>, 'write'>;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly metrics: Pick<TrafficStackMetrics, 'record'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Conditions with these reasons have no Event: componentEvents sends one for each component. */
const SILENT = [StackReason.InProgress, StackReason.ComponentFailed, StackReason.ComponentDegraded];
const EVENTS: ConditionRules = { types: STANDARD_TYPES, silent: new Set(SILENT) };

/** Reports the components of a new stack before they are observed. Servers, nodes and a busy API server may take seconds to answer. */
export async function announceFirst(
  d: Reporting,
  stack: TrafficStack,
  components: readonly Pick<ComponentSpec, 'name' | 'type'>[],
  signal?: AbortSignal,
): Promise<void> {
  if (stack.status?.components !== undefined || stack.metadata?.deletionTimestamp !== undefined) return;
  await reportStatus(d, stack, firstStatus(stack, components, d.clock.now()), signal);
}

/**
 * Prepares the writes of a plan: stores the inventory, adds the finalizer and reports the state. A write may hang, and the status must not wait for
 * it.
 */
export async function announce(
  d: Reporting,
  found: TrafficStack,
  plan: StackPlan,
  signal?: AbortSignal,
): Promise<void> {
  if (plan.apply.length > 0 && !hasFinalizer(found, FINALIZER)) {
    d.stacks.wrote(await addFinalizer(d.client, TRAFFIC_STACKS, found, FINALIZER, FIELD_MANAGER));
  }
  const status = statusOf(found, plan, { failures: [], open: writtenBy(plan), now: d.clock.now() });
  const known = found.status?.inventory ?? [];
  const isKnown = plan.inventory.every((entry) => known.some((other) => hasAll(other, entry)));
  try {
    await reportStatus(d, found, status, signal);
  } catch (error) {
    // What exists is corrected also while the status cannot be written. The report after that says so.
    if (!isKnown) throw error;
  }
}

function hasAll(entry: InventoryEntry, { component, dependsOn, objects }: InventoryEntry): boolean {
  // The API server orders the fields of an object in its own way.
  const idOfRef = ({ kind, ...ref }: InventoryObject): string => idFor({ kind }, ref);
  const known = new Set(entry.objects.map(idOfRef));
  const hasObjects = objects.every((ref) => known.has(idOfRef(ref)));
  return entry.component === component && hasObjects && dependsOn.every((name) => entry.dependsOn.includes(name));
}

/** Reports that nothing is decided, and the reason. */
export function reportUndecided(d: Reporting, stack: TrafficStack, why: Failure, signal?: AbortSignal): Promise<void> {
  return reportStatus(d, stack, undecidedStatus(stack, why, d.clock.now()), signal);
}

/** Writes a status if it differs, and sends the Events of its transitions. */
export async function reportStatus(
  d: Reporting,
  stack: TrafficStack,
  status: TrafficStackStatus,
  signal?: AbortSignal,
): Promise<void> {
  d.metrics.record(stack.metadata?.name ?? '', status);
  const events = [
    ...componentEvents(stack.status?.components, status.components),
    ...conditionEvents(stack.status?.conditions, status.conditions, EVENTS),
  ];
  await report(d, { about: stack, status, events }, signal === undefined ? {} : { signal });
}
