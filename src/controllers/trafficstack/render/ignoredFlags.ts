import { componentsIn, type ComponentSpec, type TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { isEqual } from '../../../runtime/apply/mergePatch.ts';

/**
 * What the flags say, and the stack `default` says otherwise, since people have changed it: a part of a sentence each, such as
 * `prometheus.retention is "15d", not "30d"`. A setting that the component does not have is as the flags say, and so is a type that no
 * stack has.
 *
 * @param wanted what the flags deploy, and no other stack names
 */
export function ignoredFlags(builtIns: readonly BuiltIn[], wanted: readonly BuiltIn[], live: TrafficStack): string[] {
  const components = new Map(componentsIn(live).map((each) => [each.type as string, each]));
  return builtIns.flatMap((builtIn) => {
    const component = components.get(builtIn.type);
    if (!wanted.includes(builtIn)) {
      const isThere = component !== undefined && component.mode !== 'Disabled' && builtIn.settings !== undefined;
      return isThere && !builtIn.isDeployed ? [`${builtIn.type} is a component`] : [];
    }
    if (component === undefined) return [];
    if (component.mode === 'Disabled') return [`${builtIn.type} is Disabled`];
    return differencesOf(builtIn, component);
  });
}

function differencesOf({ settings = {} }: BuiltIn, component: ComponentSpec): string[] {
  return Object.entries(settings).flatMap(([field, ofFlags]) => {
    const live: object = component[field as keyof typeof settings] ?? {};
    return Object.entries(live).flatMap(([name, value]: [string, unknown]) => {
      const flag = (ofFlags as Record<string, unknown>)[name];
      if (flag === undefined || isEqual(value, flag)) return [];
      return [`${field}.${name} is ${JSON.stringify(value)}, not ${JSON.stringify(flag)}`];
    });
  });
}
