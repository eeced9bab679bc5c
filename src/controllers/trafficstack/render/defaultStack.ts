import { USER_TYPES, type ComponentType } from '../../../api/trafficstack/terms.ts';
import {
  componentsIn,
  type ComponentSpec,
  type TrafficStack,
  type TrafficStackSpec,
} from '../../../api/trafficstack/trafficStack.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { DEFAULT_STACK } from '../../contract/keepers.ts';
import { MANAGED_BY, OPERATOR } from '../../contract/labels.ts';
import { appliedHash } from '../../../runtime/apply/difference.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DEFAULT_STACK_HASH } from '../names.ts';
import { ignoredFlags } from './ignoredFlags.ts';

/** The stack `default` as the operator writes it. */
export type DefaultStack = Pick<TrafficStack, 'metadata' | 'spec'>;

/** What is to be done about the stack `default`. Undefined: nothing. */
export type DefaultStackPlan =
  | { readonly do: 'create'; readonly stack: DefaultStack }
  | { readonly do: 'change'; readonly stack: DefaultStack; readonly live: TrafficStack }
  | { readonly do: 'delete'; readonly live: TrafficStack }
  /** People have changed it: what the flags say otherwise has no effect. */
  | { readonly do: 'leave'; readonly live: TrafficStack; readonly ignored: readonly string[] };

/**
 * Decides about the stack `default`: a component for each built-in type that the flags deploy and that no other stack names. One that
 * somebody else may have made has the mode Auto. It has all settings of the flags, so that the object alone says what runs.
 *
 * | the stack `default`                      | the flags              | it is   |
 * |------------------------------------------|------------------------|---------|
 * | is missing                               | deploy a type          | created |
 * | is as the operator has written it        | say something else     | changed |
 * | is as the operator has written it        | deploy nothing         | deleted |
 * | anything else, also if people changed it | any                    | left    |
 *
 * What it has, it does not give up for another stack, which is refused. An external object that its spec names counts as written by the
 * operator, which found it: it is kept, and the flags go on to decide about the rest.
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

/** What the flags deploy, and no other stack names. @param live the stack `default` */
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

/** The same for a spec whatever external objects it names. */
function hashOf(spec: TrafficStackSpec): string {
  const components = componentsIn({ spec }).map((each) =>
    isNamed(each) ? { ...each, mode: 'Auto', external: undefined } : each,
  );
  return appliedHash({ spec: { ...spec, components } } as KubeObject);
}

/** The spec with the external objects that the live stack names. */
function withNamedOf(spec: TrafficStackSpec, live: TrafficStack): TrafficStackSpec {
  const named = componentsIn(live).filter(isNamed);
  return nameExternals(spec, new Map(named.map(({ name, external }) => [name, external])));
}

function isNamed({ mode, external }: ComponentSpec): boolean {
  return mode === 'External' && external !== undefined;
}

/** @param named what components with the mode Auto use, by the name of the component */
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

/** Whether the operator has made the stack: the stack `default`. */
export function isMadeByOperator({ metadata }: TrafficStack): boolean {
  return metadata?.name === DEFAULT_STACK && metadata.labels?.[MANAGED_BY] === OPERATOR;
}

/** Whether a stack is the operator's: it has made it, and nobody has added a component of their own. */
export function isOfOperator(stack: TrafficStack): boolean {
  return isMadeByOperator(stack) && !typesIn(stack).some((type) => USER_TYPES.includes(type));
}

function typesIn(stack: TrafficStack): ComponentType[] {
  return componentsIn(stack).map(({ type }) => type);
}

/** With the name `node-exporter` for the type NodeExporter. What another monitoring has already is not deployed a second time. */
function componentOf({ type, standIn, settings }: BuiltIn): ComponentSpec {
  const name = type.replaceAll(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase();
  return { ...settings, name, type, ...(standIn !== undefined && { mode: 'Auto' }) };
}
