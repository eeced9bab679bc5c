import type { BuiltInType } from '../../../api/trafficstack/terms.ts';
import type { TrafficStack, TrafficStackSpec } from '../../../api/trafficstack/trafficStack.ts';
import { idFor, idOf } from '../../../runtime/objectSet/member.ts';
import type { Component, ComponentGroup } from '../components/component.ts';
import type { MeasurementOptions } from '../options.ts';

/** What TrafficStacks ask for of a group. */
interface Asked {
  /** Undefined if none names it: then the flags decide. */
  readonly isOn: boolean | undefined;
  /** A stack keeps its objects, or has not removed all of them yet. */
  readonly isKept: boolean;
}

/** What TrafficStacks ask for. */
export type Keepers = Readonly<Record<StackGroup, Asked>>;

/** The groups that a stack may keep. */
type StackGroup = 'exporter' | 'prometheus';

const TYPES: Readonly<Record<StackGroup, BuiltInType>> = { exporter: 'NodeExporter', prometheus: 'Prometheus' };

/**
 * Who keeps the groups of objects.
 *
 * | TrafficStacks                                        | kept by                                  |
 * |------------------------------------------------------|------------------------------------------|
 * | one has an object of the group in its inventory      | that stack, until it has removed it      |
 * | one names its type, and is not being deleted         | that stack                               |
 * | one names its type with the mode Disabled            | nobody: this controller removes what is its own |
 * | none names its type                                  | this controller, as the flags say        |
 *
 * @param components all objects of the groups
 */
export function keepersOf(stacks: readonly TrafficStack[], components: readonly Component[]): Keepers {
  const asked = (group: StackGroup): Asked => {
    const ids = new Set(components.filter((each) => each.group === group).map(idOf));
    const modes = stacks.flatMap((stack) => modesOf(stack, TYPES[group]));
    const isOn = modes.length === 0 ? undefined : modes.some((mode) => mode !== 'Disabled');
    return { isOn, isKept: isOn === true || stacks.some((stack) => holdsOneOf(stack, ids)) };
  };
  return { exporter: asked('exporter'), prometheus: asked('prometheus') };
}

function modesOf({ metadata, spec }: TrafficStack, type: BuiltInType): string[] {
  if (metadata?.deletionTimestamp !== undefined) return [];
  // An older CRD may have accepted anything.
  const { components = [] } = (spec as Partial<TrafficStackSpec> | undefined) ?? {};
  return components.filter((each) => each.type === type).map(({ mode = 'Managed' }) => mode);
}

function holdsOneOf({ status }: TrafficStack, ids: ReadonlySet<string>): boolean {
  const objects = status?.inventory?.flatMap((entry) => entry.objects) ?? [];
  return objects.some(({ kind, ...ref }) => ids.has(idFor({ kind }, ref)));
}

/** The groups that this controller must leave as they are. */
export function keptByStacks({ exporter, prometheus }: Keepers): ReadonlySet<ComponentGroup> {
  const kept = new Set<ComponentGroup>();
  if (exporter.isKept) kept.add('exporter');
  if (prometheus.isKept) kept.add('prometheus');
  return kept;
}

/** The groups that are switched off. The namespace and the claim are there for as long as somebody has the rest. */
export function switchedOff(options: MeasurementOptions, keepers?: Keepers): ReadonlySet<ComponentGroup> {
  const hasExporter = keepers?.exporter.isOn ?? options.exporter.enabled;
  // Without the Prometheus of the operator, a stack cannot have it either.
  const hasPrometheus = options.prometheus.enabled && (keepers?.prometheus.isOn ?? true);
  const off = new Set<ComponentGroup>();
  if (!hasExporter) off.add('exporter').add('exporterNamespace');
  if (!hasPrometheus) off.add('prometheus').add('claim');
  return off;
}
