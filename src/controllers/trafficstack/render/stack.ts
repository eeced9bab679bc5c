import {
  isWorkload,
  type CommonSpec,
  type ComponentSpec,
  type TrafficStack,
  type TrafficStackSpec,
  type WorkloadComponent,
} from '../../../api/trafficstack/trafficStack.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import type { BuiltIn, StandIn } from '../../contract/builtIn.ts';
import { budgetOfFiles, type SharedBudget } from '../expression/budget.ts';
import { problemIn, type Variables } from '../expression/expression.ts';
import { renderBuiltIn, type UsedServers } from './builtIn.ts';
import { factsOf, type ComponentFacts } from './facts.ts';
import { foldersOf } from './folders.ts';
import { objectsOf, type DesiredObject } from './objects.ts';
import { availabilityOf, nodeSelectorOf, replicasOf, type CountNodes } from './replicas.ts';
import { builtInRevisionOf, revisionOf } from './revision.ts';

/** A component and its objects. */
export interface RenderedComponent {
  readonly spec: ComponentSpec;
  readonly objects: readonly DesiredObject[];
  /** For expressions: `self`, `components` (those that it depends on), `common`. */
  readonly variables: Variables;
  /** Another text after each change of its spec: see revisionOf. */
  readonly revision: string;
  /** What a built-in component may use in place of its objects. Undefined: nothing. */
  readonly standIn?: StandIn | undefined;
  /** See BuiltIn. */
  readonly waitsFor?: BuiltIn['waitsFor'];
}

/** The components of a stack, or what is wrong with them: one sentence each. */
export type Rendered = { readonly components: readonly RenderedComponent[] } | { readonly problems: readonly string[] };

/** What a stack is rendered with, beside what people wrote. */
export interface RenderedWith {
  readonly countNodes: CountNodes;
  readonly builtIns: readonly BuiltIn[];
  /** Default: none. */
  readonly used?: UsedServers;
}

/**
 * Renders the objects of all components. Each of these is a problem: a file that cannot be rendered, an expression that is none, two
 * components with one object, high availability without a node (0 pods would be the end of a component), and a built-in type that this
 * operator does not offer.
 *
 * @param ordered the components that should exist, in the order of their dependencies
 */
export function renderStack(
  stack: TrafficStack,
  { common = {}, highAvailability }: Pick<TrafficStackSpec, 'common' | 'highAvailability'>,
  ordered: readonly ComponentSpec[],
  { countNodes, builtIns, used = new Map() }: RenderedWith,
): Rendered {
  const scope: Scope = {
    stack,
    common,
    highAvailability,
    countNodes,
    builtIns,
    used,
    facts: new Map(),
    asked: new Map(),
    problems: [],
    budget: budgetOfFiles(),
  };
  const components = ordered.flatMap((spec) =>
    isWorkload(spec) ? renderWorkload(spec, scope) : renderOther(spec, scope),
  );
  const problems = [...scope.problems, ...duplicatesIn(components)];
  return problems.length > 0 ? { problems } : { components };
}

/** What has been rendered before, and what is wrong so far. */
interface Scope extends Pick<TrafficStackSpec, 'highAvailability'>, Required<RenderedWith> {
  readonly stack: TrafficStack;
  readonly common: CommonSpec;
  readonly facts: Map<string, ComponentFacts>;
  /** Without the number of nodes, and without the servers that are used. */
  readonly asked: Map<string, ComponentFacts>;
  readonly problems: string[];
  /** Of the expressions in files. */
  readonly budget: SharedBudget;
}

function renderWorkload(spec: WorkloadComponent, scope: Scope): RenderedComponent {
  const { stack, common, facts, asked, problems } = scope;
  const availability = availabilityOf(spec, scope.highAvailability);
  const nodeSelector = nodeSelectorOf(spec, common, availability);
  const replicas = replicasOf(spec, availability, () => scope.countNodes(nodeSelector));
  if (replicas === 0 && spec.workload.replicas === undefined) problems.push(noNode(spec, nodeSelector));
  facts.set(spec.name, factsOf(spec, replicas));
  asked.set(spec.name, factsOf(spec, spec.workload.replicas ?? availability?.replicas));
  const variables = variablesOf(spec, scope);
  const rendered = foldersOf(spec, variables, scope.budget);
  if ('problems' in rendered) problems.push(...rendered.problems);
  const folders = 'problems' in rendered ? [] : rendered;
  const resolved = { spec, replicas, common, nodeSelector, availability, folders };
  const dependencies = (spec.dependsOn ?? []).flatMap((name) => asked.get(name) ?? []);
  const revision = revisionOf({ spec, common, availability, dependencies });
  return { spec, objects: objectsOf(stack, resolved), variables, revision };
}

/** A component whose objects the operator knows. */
function renderOther(spec: ComponentSpec, scope: Scope): RenderedComponent[] {
  const rendered = renderBuiltIn(scope.stack, spec, scope);
  if ('problem' in rendered) {
    scope.problems.push(rendered.problem);
    return [];
  }
  const { objects, facts, asked, standIn, waitsFor } = rendered;
  scope.facts.set(spec.name, facts);
  scope.asked.set(spec.name, asked);
  const revision = builtInRevisionOf(spec, objects, standIn);
  const optional = { ...(standIn && { standIn }), ...(waitsFor && { waitsFor }) };
  return [{ spec, objects, variables: variablesOf(spec, scope), revision, ...optional }];
}

/** The variables of `ready.expression` beside those of files. */
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

/** For the files and the expression of a component, which is checked. */
function variablesOf(spec: ComponentSpec, { facts, common: { logLevel = 'info' }, problems }: Scope): Variables {
  const components = Object.fromEntries((spec.dependsOn ?? []).map((each) => [each, facts.get(each)]));
  const variables = { self: facts.get(spec.name), components, common: { logLevel } };
  problems.push(...expressionProblem(spec, variables));
  return variables;
}

/** Objects that two components have, or one has twice. */
function duplicatesIn(components: readonly RenderedComponent[]): string[] {
  const all = components.flatMap(({ spec, objects }) => objects.map((each) => ({ of: spec.name, id: idOf(each) })));
  return [...Map.groupBy(all, ({ id }) => id)].flatMap(([id, [first, second]]) =>
    first !== undefined && second !== undefined ? [`${id} is of ${first.of} and of ${second.of}`] : [],
  );
}
