import type { ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';

/** Whether a component should exist. */
export function isEnabled({ mode }: ComponentSpec): boolean {
  return mode !== 'Disabled';
}

/** The components that should exist, each after those that it depends on; or what is wrong, one sentence each. */
export type Ordered = { readonly components: readonly ComponentSpec[] } | { readonly problems: readonly string[] };

/**
 * Orders the components that are not disabled. Those that depend on nothing in common keep the order of the spec.
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
