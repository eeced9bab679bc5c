import type { Keepers, KeptTypes } from '../../contract/keepers.ts';
import type { ComponentGroup } from '../components/component.ts';
import type { MeasurementOptions } from '../options.ts';

/** The groups that a stack may keep. */
export const KEPT_TYPES = {
  exporter: 'NodeExporter',
  prometheus: 'Prometheus',
} as const satisfies KeptTypes<'exporter' | 'prometheus'>;
export type StackGroup = keyof typeof KEPT_TYPES;

/** The groups that the flags deploy. */
export function deployedByFlags(options: MeasurementOptions): ReadonlySet<StackGroup> {
  const off = switchedOff(options);
  return new Set((Object.keys(KEPT_TYPES) as StackGroup[]).filter((group) => !off.has(group)));
}

/**
 * The groups that are switched off. The namespace is there for as long as somebody has the exporter, and the claim for as long as the operator
 * may have a Prometheus: see leftAlone.
 */
export function switchedOff(options: MeasurementOptions, keepers?: Keepers<StackGroup>): ReadonlySet<ComponentGroup> {
  const hasExporter = keepers?.exporter.isOn ?? options.exporter.enabled;
  // Without the Prometheus of the operator, a stack cannot have it either.
  const hasPrometheus = options.prometheus.enabled && (keepers?.prometheus.isOn ?? true);
  const off = new Set<ComponentGroup>();
  if (!hasExporter) off.add('exporter').add('exporterNamespace');
  if (!hasPrometheus) off.add('prometheus');
  if (!options.prometheus.enabled) off.add('claim');
  return off;
}

/**
 * What is neither made nor deleted: the claim, for as long as a stack does without an own Prometheus, or has not decided that yet. It
 * would get a volume for nothing. One that is there has samples, which are back when the own Prometheus is.
 *
 * @param keepers undefined if that is not known
 */
export function leftAlone(keepers: Keepers<StackGroup> | undefined): ReadonlySet<ComponentGroup> {
  if (keepers === undefined) return new Set(['claim']);
  const { isOn, isUndecided, used } = keepers.prometheus;
  return new Set(isUndecided || isOn === false || used !== undefined ? ['claim'] : []);
}
