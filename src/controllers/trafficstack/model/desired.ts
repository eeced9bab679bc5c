import type { ComponentType } from '../../../api/trafficstack/terms.ts';
import {
  isWorkload,
  type ComponentStatus,
  type RolledBackFrom,
  type TrafficStack,
  type UpgradeSpec,
  type ComponentSpec,
} from '../../../api/trafficstack/trafficStack.ts';
import type { RenderedComponent } from '../render/stack.ts';
import type { StoredRevision } from '../render/storedRevision.ts';

/** A component with its desired objects. */
export interface DesiredComponent extends RenderedComponent {
  /** The namespace of its stored revision. Undefined if it cannot be rolled back. */
  readonly revisionsIn?: string;
  /** The last ready revision. Undefined if there is none, or if it cannot be rolled back. */
  readonly stored?: StoredRevision;
  /** Set if the revision of the spec has failed: the objects are from `stored`, if it exists. */
  readonly rolledBackFrom?: RolledBackFrom;
}

/** Types whose last ready revision is never restored. */
const NEVER_BACK: readonly ComponentType[] = ['Weights', 'Objects'];

/**
 * Returns a component with its desired objects.
 *
 * | `rollback` | the status says that the revision of the spec has failed | a revision is stored | objects       |
 * |------------|------|------|------------------------------------------------------------------------------------|
 * | off, External, a TrafficWeight, or of the type Objects | any | any | of the spec                                               |
 * | on         | no   | any  | of the spec                                                                    |
 * | on         | yes  | yes  | stored, without `ready` of the failed revision |
 * | on         | yes  | no   | of the spec, with `rolledBackFrom`: not applied                       |
 *
 * A TrafficWeight that goes to 0 drains its cluster, and may not be ready for another reason than its weight, such as a conflict of Ingresses: to
 * put the weight back would send traffic there. It has a rollback of its own, spec.ramp. Of the type Objects, a Job of an earlier revision may undo what
 * a later one has done.
 *
 * @param namespace of the operator: a built-in component may have objects in several namespaces, or in none
 */
export function desiredComponentOf(
  rendered: RenderedComponent,
  {
    stack,
    upgrade,
    stored,
    namespace,
  }: {
    readonly stack: TrafficStack;
    readonly upgrade: UpgradeSpec;
    readonly stored: StoredRevision | undefined;
    readonly namespace: string;
  },
): DesiredComponent {
  const { spec, revision } = rendered;
  const isExempt = spec.rollback === false || spec.mode === 'External' || NEVER_BACK.includes(spec.type);
  if (upgrade.rollback !== true || isExempt) return rendered;
  const revisionsIn = isWorkload(spec) ? spec.workload.namespace : namespace;
  const target: DesiredComponent = { ...rendered, revisionsIn, ...(stored && { stored }) };
  const rolledBackFrom = priorOf(stack, spec.name)?.rolledBackFrom;
  if (rolledBackFrom?.revision !== revision) return target;
  if (stored === undefined) return { ...target, rolledBackFrom };
  const { objects, revision: restored } = stored;
  return { ...target, rolledBackFrom, spec: { ...spec, ready: undefined }, objects, revision: restored };
}

function priorOf({ status }: TrafficStack, component: string): ComponentStatus | undefined {
  return status?.components?.find(({ name }) => name === component);
}

/** Returns whether a component should exist. */
export function isEnabled({ mode }: ComponentSpec): boolean {
  return mode !== 'Disabled';
}

/** The enabled components, each after its dependencies; or the problems, one sentence each. */
type Ordered = { readonly components: readonly ComponentSpec[] } | { readonly problems: readonly string[] };

/**
 * Orders the enabled components by their dependencies, otherwise as in the spec.
 *
 * Each of these is a problem: a dependency that is no component, that is disabled, or that depends on the component itself by
 * way of others.
 */
export function orderComponents(components: readonly ComponentSpec[]): Ordered {
  const enabled = components.filter(isEnabled);
  const byName = new Map(components.map((component) => [component.name, component]));
  const dangling = enabled.flatMap((component) => danglingIn(component, byName));
  if (dangling.length > 0) return { problems: dangling };
  const ordered = new Map<string, ComponentSpec>();
  const visit = (component: ComponentSpec, path: readonly string[]): string | undefined => {
    const { name, dependsOn = [] } = component;
    if (ordered.has(name)) return undefined;
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name].join(' -> ');
    for (const dependency of dependsOn.flatMap((each) => byName.get(each) ?? [])) {
      const cycle = visit(dependency, [...path, name]);
      if (cycle !== undefined) return cycle;
    }
    ordered.set(name, component);
    return undefined;
  };
  for (const component of enabled) {
    const cycle = visit(component, []);
    if (cycle !== undefined) return { problems: [`components depend on one another: ${cycle}`] };
  }
  return { components: [...ordered.values()] };
}

function danglingIn({ name, dependsOn = [] }: ComponentSpec, byName: ReadonlyMap<string, ComponentSpec>): string[] {
  return dependsOn.flatMap((dependency) => {
    const other = byName.get(dependency);
    if (other === undefined) return [`${name} depends on ${dependency}, which is no component of the stack`];
    return isEnabled(other) ? [] : [`${name} depends on ${dependency}, which is disabled`];
  });
}
