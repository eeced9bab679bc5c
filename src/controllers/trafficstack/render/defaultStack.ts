import { USER_TYPES, type ComponentType } from '../../../api/trafficstack/terms.ts';
import {
  componentsIn,
  type ComponentSpec,
  type TrafficStack,
  type TrafficStackSpec,
} from '../../../api/trafficstack/trafficStack.ts';
import { appliedHash } from '../../../runtime/apply/difference.ts';
import { isEqual } from '../../../runtime/apply/mergePatch.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { DEFAULT_STACK } from '../../contract/stackOwnership.ts';
import { MANAGED_BY, OPERATOR } from '../../contract/labels.ts';
import { DEFAULT_STACK_HASH } from '../names.ts';

/** The stack `default` as the operator writes it. */
type DefaultStack = Pick<TrafficStack, 'metadata' | 'spec'>;

/** The decision about the stack `default`. Undefined: no change. */
export type DefaultStackPlan =
  | { readonly do: 'create'; readonly stack: DefaultStack }
  | { readonly do: 'change'; readonly stack: DefaultStack; readonly live: TrafficStack }
  | { readonly do: 'delete'; readonly live: TrafficStack }
  /** Users have changed it: differing flags have no effect. */
  | { readonly do: 'leave'; readonly live: TrafficStack; readonly ignored: readonly string[] };

/**
 * Decides about the stack `default`. It has a component for each built-in type that the flags deploy and no other stack names, with all settings of
 * the flags. Types with external objects have the mode Auto.
 *
 * | the stack `default`                      | the flags              | it is   |
 * |------------------------------------------|------------------------|---------|
 * | is missing                               | deploy a type          | created |
 * | is as the operator has written it        | say something else     | changed |
 * | is as the operator has written it        | deploy nothing         | deleted |
 * | anything else, also if people changed it | any                    | left    |
 *
 * The stack keeps its components; another stack with the same types is refused. An external object in its spec was found by the operator, so the
 * flags still decide about the rest.
 */
export function planDefaultStack(
  builtIns: readonly BuiltIn[],
  stacks: readonly TrafficStack[],
): DefaultStackPlan | undefined {
  const live = stacks.find(({ metadata }) => metadata?.name === DEFAULT_STACK);
  if (live?.metadata?.deletionTimestamp !== undefined) return undefined;
  const types = typesOfFlags(builtIns, stacks, live);
  if (live !== undefined && !isAsWritten(live))
    return { do: 'leave', live, ignored: ignoredFlags(builtIns, types, live) };
  if (types.length === 0) return live && { do: 'delete', live };
  const stack = defaultStackOf(types);
  if (live === undefined) return { do: 'create', stack };
  if (hashOf(live.spec) === hashOf(stack.spec)) return undefined;
  return { do: 'change', stack: { ...stack, spec: withNamedOf(stack.spec, live) }, live };
}

/** Returns whether a stack has objects, as its status says. */
export function holdsObjects({ status }: TrafficStack): boolean {
  return status?.inventory?.some(({ objects }) => objects.length > 0) === true;
}

/** Returns the types that the flags deploy and no other stack names. @param live the stack `default` */
export function typesOfFlags(
  builtIns: readonly BuiltIn[],
  stacks: readonly TrafficStack[],
  live: TrafficStack | undefined,
): BuiltIn[] {
  const others = stacks.filter((each) => each !== live && each.metadata?.deletionTimestamp === undefined);
  const own = live === undefined ? [] : typesIn(live);
  const named = new Set(others.flatMap(typesIn).filter((type) => !own.includes(type)));
  return builtIns.filter(({ type, isDeployed, problem }) => isDeployed && problem === undefined && !named.has(type));
}

function defaultStackOf(types: readonly BuiltIn[]): DefaultStack {
  const spec = { components: types.map(componentOf) };
  const annotations = { [DEFAULT_STACK_HASH]: hashOf(spec) };
  return { metadata: { name: DEFAULT_STACK, labels: { [MANAGED_BY]: OPERATOR }, annotations }, spec };
}

function isAsWritten({ metadata, spec }: TrafficStack): boolean {
  return metadata?.annotations?.[DEFAULT_STACK_HASH] === hashOf(spec);
}

/** Returns a hash of a spec that ignores named external objects. */
function hashOf(spec: TrafficStackSpec): string {
  const components = componentsIn({ spec }).map((each) =>
    isNamed(each) ? { ...each, mode: 'Auto', external: undefined } : each,
  );
  return appliedHash({ spec: { ...spec, components } } as KubeObject);
}

/** Returns the spec with the external objects that the live stack names. */
function withNamedOf(spec: TrafficStackSpec, live: TrafficStack): TrafficStackSpec {
  const named = componentsIn(live).filter(isNamed);
  return nameExternals(spec, new Map(named.map(({ name, external }) => [name, external])));
}

function isNamed({ mode, external }: ComponentSpec): boolean {
  return mode === 'External' && external !== undefined;
}

/** Names external objects in components with the mode Auto. @param named what components with the mode Auto use, by the name of the component */
export function nameExternals(
  spec: TrafficStackSpec,
  named: ReadonlyMap<string, ComponentSpec['external']>,
): TrafficStackSpec {
  const components = spec.components.map((each): ComponentSpec => {
    const external = each.mode === 'Auto' ? named.get(each.name) : undefined;
    return external === undefined ? each : { ...each, mode: 'External', external };
  });
  return { ...spec, components };
}

/** Returns whether the operator has made the stack `default`. */
export function isMadeByOperator({ metadata }: TrafficStack): boolean {
  return metadata?.name === DEFAULT_STACK && metadata.labels?.[MANAGED_BY] === OPERATOR;
}

/** Returns whether the operator has made a stack, and users have added no component of their own. */
export function isOfOperator(stack: TrafficStack): boolean {
  return isMadeByOperator(stack) && !typesIn(stack).some((type) => USER_TYPES.includes(type));
}

function typesIn(stack: TrafficStack): ComponentType[] {
  return componentsIn(stack).map(({ type }) => type);
}

/** Returns a component with the name `node-exporter` for the type NodeExporter. The mode Auto avoids a second deployment. */
function componentOf({ type, externalProvider, settings }: BuiltIn): ComponentSpec {
  const name = type.replaceAll(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase();
  return { ...settings, name, type, ...(externalProvider !== undefined && { mode: 'Auto' }) };
}

/**
 * Returns the flags that a changed stack `default` overrides: parts of a sentence such as `prometheus.retention is "15d", not "30d"`. Missing
 * settings and types follow the flags.
 *
 * @param deployed the types that the flags deploy and no other stack names
 */
export function ignoredFlags(builtIns: readonly BuiltIn[], deployed: readonly BuiltIn[], live: TrafficStack): string[] {
  const components = new Map(componentsIn(live).map((each) => [each.type as string, each]));
  return builtIns.flatMap((builtIn) => {
    const component = components.get(builtIn.type);
    if (!deployed.includes(builtIn)) {
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
