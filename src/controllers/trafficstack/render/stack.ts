import { DEFAULT_DEADLINE } from '../../../api/trafficstack/terms.ts';
import {
  isWorkload,
  type CommonSpec,
  type ComponentSpec,
  type TrafficStack,
  type TrafficStackSpec,
  type WorkloadComponent,
  type HighAvailabilitySpec,
} from '../../../api/trafficstack/trafficStack.ts';
import { appliedHash } from '../../../runtime/apply/difference.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import type { Resource } from '../../../runtime/client/resource.ts';
import type { BuiltIn, ExternalProvider } from '../../contract/builtIn.ts';
import { budgetOfFiles, type SharedBudget } from '../expression/budget.ts';
import { problemIn, type Variables } from '../expression/expression.ts';
import { renderBuiltIn, type UsedServers } from './builtIn.ts';
import { factsOf, type ComponentFacts } from './facts.ts';
import { foldersOf } from './folders.ts';
import { objectsOf, type DesiredObject } from './objects.ts';
import { userObjects } from './userObjects.ts';

/** A component and its objects. */
export interface RenderedComponent {
  readonly spec: ComponentSpec;
  readonly objects: readonly DesiredObject[];
  /** Variables of expressions: `self`, `components` (the dependencies), `common`. */
  readonly variables: Variables;
  /** Changes with the spec: see revisionOf. */
  readonly revision: string;
  /** `revision` as the release before computed it from the same spec, and as it is now: see formerRevision.ts. */
  readonly former?: { readonly revision: string; readonly now: string };
  /** The external object that a built-in component may use. Undefined: none. */
  readonly externalProvider?: ExternalProvider | undefined;
  /** See BuiltIn. */
  readonly waitsFor?: BuiltIn['waitsFor'];
}

/** The components of a stack, or their problems, one sentence each. */
export type Rendered = { readonly components: readonly RenderedComponent[] } | { readonly problems: readonly string[] };

/** The inputs of a rendering besides the spec. */
export interface RenderedWith {
  readonly countNodes: CountNodes;
  readonly builtIns: readonly BuiltIn[];
  /** Default: none. */
  readonly used?: UsedServers;
  /** The kinds that the type Objects may have. Default: none. */
  readonly objectKinds?: readonly Resource[];
}

/**
 * Renders the objects of all components. Problems are a file that cannot be rendered, an invalid expression, two components with one object, high
 * availability without a node (which would mean 0 pods), and an unknown built-in type.
 *
 * @param ordered the components that should exist, in the order of their dependencies
 */
export function renderStack(
  stack: TrafficStack,
  { common = {}, highAvailability }: Pick<TrafficStackSpec, 'common' | 'highAvailability'>,
  ordered: readonly ComponentSpec[],
  { countNodes, builtIns, used = new Map(), objectKinds = [] }: RenderedWith,
): Rendered {
  const scope: Scope = {
    stack,
    common,
    highAvailability,
    countNodes,
    builtIns,
    used,
    objectKinds,
    facts: new Map(),
    stableFacts: new Map(),
    problems: [],
    budget: budgetOfFiles(),
  };
  const components = ordered.flatMap((spec) =>
    isWorkload(spec) ? renderWorkload(spec, scope) : (renderObjects(spec, scope) ?? renderOther(spec, scope)),
  );
  const problems = [...scope.problems, ...duplicatesIn(components)];
  return problems.length > 0 ? { problems } : { components };
}

/** The state of a rendering. */
interface Scope extends Pick<TrafficStackSpec, 'highAvailability'>, Required<RenderedWith> {
  readonly stack: TrafficStack;
  readonly common: CommonSpec;
  readonly facts: Map<string, ComponentFacts>;
  /** Facts without the number of nodes and the used servers. */
  readonly stableFacts: Map<string, ComponentFacts>;
  readonly problems: string[];
  /** The budget of expressions in files. */
  readonly budget: SharedBudget;
}

function renderWorkload(spec: WorkloadComponent, scope: Scope): RenderedComponent {
  const { stack, common, facts, stableFacts, problems } = scope;
  const availability = availabilityOf(spec, scope.highAvailability);
  const nodeSelector = nodeSelectorOf(spec, common, availability);
  const replicas = replicasOf(spec, availability, () => scope.countNodes(nodeSelector));
  if (replicas === 0 && spec.workload.replicas === undefined) problems.push(noNode(spec, nodeSelector));
  facts.set(spec.name, factsOf(spec, replicas));
  stableFacts.set(spec.name, factsOf(spec, spec.workload.replicas ?? availability?.replicas));
  const variables = variablesOf(spec, scope);
  const rendered = foldersOf(spec, variables, scope.budget);
  if ('problems' in rendered) problems.push(...rendered.problems);
  const folders = 'problems' in rendered ? [] : rendered;
  const resolved = { spec, replicas, common, nodeSelector, availability, folders };
  const dependencies = (spec.dependsOn ?? []).flatMap((name) => stableFacts.get(name) ?? []);
  const source = { spec, common, availability, dependencies };
  const revision = revisionOf({ ...source, rendering: stableObjectsOf(stack, resolved) });
  const former = { revision: revisionOf(source), now: revision };
  return { spec, objects: objectsOf(stack, resolved), variables, revision, former };
}

/** A number of pods that are spread, whatever the number of nodes. */
const SPREAD = 2;

/**
 * Returns the objects of a component without the number of nodes, the contents of files and the identity of the stack: they change with the spec, and
 * with a version of the operator that renders it otherwise.
 */
function stableObjectsOf(
  { metadata }: TrafficStack,
  { folders, ...resolved }: Parameters<typeof objectsOf>[1],
): readonly DesiredObject[] {
  const { spec, availability } = resolved;
  const spread = availability === undefined ? undefined : SPREAD;
  const replicas = spec.workload.replicas ?? availability?.replicas ?? spread;
  const withoutFiles = folders.map(({ volume, mountPath }) => ({ volume, mountPath, object: volume, files: {} }));
  const nameless = { metadata: { name: metadata?.name }, spec: { components: [] } };
  return objectsOf(nameless, { ...resolved, replicas, folders: withoutFiles });
}

/** Renders a component of the type Objects; returns undefined for any other component. */
function renderObjects(spec: ComponentSpec, scope: Scope): RenderedComponent[] | undefined {
  const { stack, facts, stableFacts, problems, objectKinds: kinds } = scope;
  const { name, objects } = spec;
  if (objects === undefined) return undefined;
  const own = { name, namespace: objects.namespace, addresses: [], ports: {} };
  facts.set(name, own);
  stableFacts.set(name, own);
  const variables = variablesOf(spec, scope);
  const rendered = userObjects({ stack, name, objects, kinds, variables });
  problems.push(...rendered.problems);
  return [{ spec, objects: rendered.objects, variables, revision: builtInRevisionOf(spec, rendered.objects) }];
}

/** Renders a component of a built-in type. */
function renderOther(spec: ComponentSpec, scope: Scope): RenderedComponent[] {
  const rendered = renderBuiltIn(scope.stack, spec, scope);
  if ('problem' in rendered) {
    scope.problems.push(rendered.problem);
    return [];
  }
  const { objects, facts, stableFacts, externalProvider, waitsFor } = rendered;
  scope.facts.set(spec.name, facts);
  scope.stableFacts.set(spec.name, stableFacts);
  const revision = builtInRevisionOf(spec, objects, externalProvider);
  const optional = { ...(externalProvider && { externalProvider }), ...(waitsFor && { waitsFor }) };
  return [{ spec, objects, variables: variablesOf(spec, scope), revision, ...optional }];
}

/** Further variables of `ready.expression`. */
const OF_READY = ['workload', 'services'];

function expressionProblem({ name, ready }: ComponentSpec, variables: Variables): string[] {
  if (ready?.expression === undefined) return [];
  const problem = problemIn(ready.expression, [...Object.keys(variables), ...OF_READY]);
  return problem === undefined ? [] : [`component ${name}, ready.expression: ${problem}`];
}

function noNode({ name }: ComponentSpec, selector: Readonly<Record<string, string>>): string {
  const labels = Object.entries(selector).map((label) => label.join('='));
  return `component ${name}: no node has all labels that its pods select: ${labels.join(', ')}`;
}

/** Returns the variables of a component, and checks its expression. */
function variablesOf(spec: ComponentSpec, { facts, common: { logLevel = 'info' }, problems }: Scope): Variables {
  const components = Object.fromEntries((spec.dependsOn ?? []).map((each) => [each, facts.get(each)]));
  const variables = { self: facts.get(spec.name), components, common: { logLevel } };
  problems.push(...expressionProblem(spec, variables));
  return variables;
}

/** Returns the objects that occur twice. */
function duplicatesIn(components: readonly RenderedComponent[]): string[] {
  const all = components.flatMap(({ spec, objects }) => objects.map((each) => ({ of: spec.name, id: idOf(each) })));
  return [...Map.groupBy(all, ({ id }) => id)].flatMap(([id, [first, second]]) =>
    first !== undefined && second !== undefined ? [`${id} is of ${first.of} and of ${second.of}`] : [],
  );
}

/** Counts the nodes with all of these labels. */
export type CountNodes = (nodeSelector: Readonly<Record<string, string>>) => number;

/** Returns the high availability of a component. Undefined for a DaemonSet, which runs on each node, and with the mode External. */
function availabilityOf(
  { workload, mode, highAvailability = true }: WorkloadComponent,
  ofStack: HighAvailabilitySpec | undefined,
): HighAvailabilitySpec | undefined {
  return highAvailability && workload.kind !== 'DaemonSet' && mode !== 'External' ? ofStack : undefined;
}

/** Returns the node selector of the pods. The template takes precedence. */
function nodeSelectorOf(
  { workload }: WorkloadComponent,
  common: CommonSpec,
  availability: HighAvailabilitySpec | undefined,
): Record<string, string> {
  return { ...common.nodeSelector, ...availability?.nodeSelector, ...workload.podTemplate?.spec?.nodeSelector };
}

/** Returns the number of pods; undefined if the stack does not set it. */
function replicasOf(
  { workload }: WorkloadComponent,
  availability: HighAvailabilitySpec | undefined,
  countNodes: () => number,
): number | undefined {
  if (workload.replicas !== undefined || availability === undefined) return workload.replicas;
  return availability.replicas ?? countNodes();
}

/** Hexadecimal digits. */
const DIGITS = 16;

/** The parts of a spec that decide about a component. */
interface Source {
  readonly spec: WorkloadComponent;
  readonly common: CommonSpec;
  /** Undefined if it does not apply to the component. */
  readonly availability: HighAvailabilitySpec | undefined;
  /** Facts of the dependencies for its files, without the number of nodes. */
  readonly dependencies: readonly ComponentFacts[];
  /** See stableObjectsOf. Undefined: as the release before, which did not use them. */
  readonly rendering?: readonly DesiredObject[];
}

/**
 * Returns the revision of a component, which changes with its spec, with settings of the stack for its pods and files, and if another version of the
 * operator renders other objects. A node that joins changes objects, not the revision.
 */
function revisionOf({ spec, common, availability, dependencies, rendering }: Source): string {
  const { name, type, deadline = DEFAULT_DEADLINE, ready, workload } = spec;
  const { logLevel, ...placement } = common;
  const files = workload.config === undefined ? {} : { logLevel, dependencies };
  const objects = rendering?.map(({ object }) => object);
  return textOf({ name, type, deadline, ready, workload, placement, availability, ...files, objects });
}

/** Returns the revision of a built-in component, which also changes if another version of the operator renders other objects. */
function builtInRevisionOf(
  { name, type, deadline = DEFAULT_DEADLINE, ready, external }: ComponentSpec,
  objects: readonly DesiredObject[],
  externalProvider?: Pick<ExternalProvider, 'sought'>,
): string {
  const readyWhen = objects.flatMap(({ readyWhen: each }) => each ?? []);
  const own = {
    ...{ name, type, deadline, ready, objects: objects.map(({ object }) => object) },
    ...(readyWhen.length > 0 && { readyWhen }),
  };
  // With the mode Auto, its own objects contain the searched port.
  return textOf(objects.length > 0 ? own : { ...own, sought: externalProvider?.sought, external });
}

function textOf(source: object): string {
  return appliedHash(source).slice(0, DIGITS);
}
