import type { Keepers, KeptTypes } from '../../contract/keepers.ts';
import type { ComponentGroup } from '../components/component.ts';
import type { MeasurementOptions } from '../options.ts';

/** The groups that a stack may keep. */
export const KEPT_TYPES = {
  exporter: 'NodeExporter',
  prometheus: 'Prometheus',
} as const satisfies KeptTypes<'exporter' | 'prometheus'>;
export type StackGroup = keyof typeof KEPT_TYPES;

/** The groups that the operator puts into the stack `default`. */
export function keptByDefault(options: MeasurementOptions): ReadonlySet<StackGroup> {
  if (!options.defaultStack) return new Set();
  const off = switchedOff(options);
  return new Set((Object.keys(KEPT_TYPES) as StackGroup[]).filter((group) => !off.has(group)));
}

/** The groups that are switched off. The namespace and the claim are there for as long as somebody has the rest. */
export function switchedOff(options: MeasurementOptions, keepers?: Keepers<StackGroup>): ReadonlySet<ComponentGroup> {
  const hasExporter = keepers?.exporter.isOn ?? options.exporter.enabled;
  // Without the Prometheus of the operator, a stack cannot have it either.
  const hasPrometheus = options.prometheus.enabled && (keepers?.prometheus.isOn ?? true);
  const off = new Set<ComponentGroup>();
  if (!hasExporter) off.add('exporter').add('exporterNamespace');
  if (!hasPrometheus) off.add('prometheus');
  if (!hasPrometheus || keepers?.prometheus.used !== undefined) off.add('claim');
  return off;
}

/** What is unknown of an exporter or a Prometheus leaves all of it as it is. */
export const PARTNERS: readonly (readonly ComponentGroup[])[] = [
  ['exporter', 'exporterNamespace'],
  ['prometheus', 'claim'],
];
