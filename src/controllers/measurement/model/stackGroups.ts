import type { StackOwnership, StackTypes } from '../../contract/stackOwnership.ts';
import type { ComponentGroup } from '../components/component.ts';
import type { MeasurementOptions } from '../options.ts';
import { ComponentReason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { Problem } from '../../../runtime/process/problem.ts';

/** The groups that a stack may manage, with the types of its components. */
export const STACK_TYPES = {
  exporter: 'NodeExporter',
  prometheus: 'Prometheus',
} as const satisfies StackTypes<'exporter' | 'prometheus'>;
export type StackGroup = keyof typeof STACK_TYPES;

/** Returns the groups that the flags deploy. */
export function deployedByFlags(options: MeasurementOptions): ReadonlySet<StackGroup> {
  const off = switchedOff(options);
  return new Set((Object.keys(STACK_TYPES) as StackGroup[]).filter((group) => !off.has(group)));
}

/**
 * Returns the groups that are switched off. The namespace exists as long as the exporter is on, and the claim as long as the operator
 * may have a Prometheus: see untouchedGroups.
 */
export function switchedOff(
  options: MeasurementOptions,
  ownership?: StackOwnership<StackGroup>,
): ReadonlySet<ComponentGroup> {
  const hasExporter = ownership?.exporter.isOn ?? options.exporter.enabled;
  // Without the Prometheus of the operator, a stack cannot have it either.
  const hasPrometheus = options.prometheus.enabled && (ownership?.prometheus.isOn ?? true);
  const off = new Set<ComponentGroup>();
  if (!hasExporter) off.add('exporter').add('exporterNamespace');
  if (!hasPrometheus) off.add('prometheus');
  if (!options.prometheus.enabled) off.add('claim');
  return off;
}

/**
 * Returns the groups that are neither created nor deleted: the claim, while a stack does not deploy its own Prometheus, or has not decided
 * that yet. A new claim would get a volume for nothing. An existing claim has samples, which the own Prometheus uses again later. And the
 * namespace of node-exporter, while a stack names another node-exporter: it may have what users have put there.
 *
 * @param ownership undefined while it is unknown
 */
export function untouchedGroups(ownership: StackOwnership<StackGroup> | undefined): ReadonlySet<ComponentGroup> {
  if (ownership === undefined) return new Set(['claim']);
  const { isOn, isUndecided, used } = ownership.prometheus;
  return new Set([
    ...(isUndecided || isOn === false || used !== undefined ? (['claim'] as const) : []),
    ...(ownership.exporter.isNamed ? (['exporterNamespace'] as const) : []),
  ]);
}

const TYPES: ReadonlySet<string> = new Set(Object.values(STACK_TYPES));

/**
 * Returns the problems of node-exporter and Prometheus in the status of TrafficStacks: components that have failed, and components that
 * cannot be written. The stack has their Events and metrics.
 */
export function stackProblems(stacks: readonly TrafficStack[]): Problem[] {
  return stacks.flatMap(({ metadata, status }) =>
    (status?.components ?? []).filter(isBroken).map(({ name, reason, message }) => ({
      ...{ reason, object: `TrafficStack ${metadata?.name}` },
      message: `component ${name} of TrafficStack ${metadata?.name}: ${message}`,
    })),
  );
}

function isBroken({ type, state, reason }: ComponentStatus): boolean {
  return TYPES.has(type) && (state === 'Failed' || reason === ComponentReason.WriteFailed);
}
