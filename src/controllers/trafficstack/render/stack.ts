import type { ComponentSpec, TrafficStack, TrafficStackSpec } from '../../../api/trafficstack/trafficStack.ts';
import { idOf } from '../../../runtime/objectSet/member.ts';
import { problemIn, type Variables } from '../expression/expression.ts';
import { factsOf, type ComponentFacts } from './facts.ts';
import { foldersOf } from './folders.ts';
import { objectsOf, type DesiredObject } from './objects.ts';
import { availabilityOf, nodeSelectorOf, replicasOf, type CountNodes } from './replicas.ts';
import { revisionOf } from './revision.ts';

/** A component and its objects. */
export interface RenderedComponent {
  readonly spec: ComponentSpec;
  readonly objects: readonly DesiredObject[];
  /** For expressions: `self`, `components` (those that it depends on), `common`. */
  readonly variables: Variables;
  /** Another text after each change of its spec: see revisionOf. */
  readonly revision: string;
}

/** The components of a stack, or what is wrong with them: one sentence each. */
export type Rendered = { readonly components: readonly RenderedComponent[] } | { readonly problems: readonly string[] };

/**
 * Renders the objects of all components. Each of these is a problem: a file that cannot be rendered, an expression that is none, two
 * components with one object, and high availability without a node: 0 pods would be the end of a component.
 *
 * @param ordered the components that should exist, in the order of their dependencies
 */
export function renderStack(
  stack: TrafficStack,
  { common = {}, highAvailability }: Pick<TrafficStackSpec, 'common' | 'highAvailability'>,
  ordered: readonly ComponentSpec[],
  countNodes: CountNodes,
): Rendered {
  const problems: string[] = [];
  const facts = new Map<string, ComponentFacts>();
  /** Without the number of nodes. */
  const asked = new Map<string, ComponentFacts>();
  const components = ordered.map((spec) => {
    const availability = availabilityOf(spec, highAvailability);
    const nodeSelector = nodeSelectorOf(spec, common, availability);
    const replicas = replicasOf(spec, availability, () => countNodes(nodeSelector));
    if (replicas === 0 && spec.workload.replicas === undefined) problems.push(noNode(spec, nodeSelector));
    facts.set(spec.name, factsOf(spec, replicas));
    asked.set(spec.name, factsOf(spec, spec.workload.replicas ?? availability?.replicas));
    const variables = variablesOf(spec, facts, common);
    problems.push(...expressionProblem(spec, variables));
    const folders = foldersOf(spec, variables);
    if ('problems' in folders) problems.push(...folders.problems);
    const resolved = {
      spec,
      replicas,
      common,
      nodeSelector,
      availability,
      folders: 'problems' in folders ? [] : folders,
    };
    const dependencies = (spec.dependsOn ?? []).flatMap((name) => asked.get(name) ?? []);
    const revision = revisionOf({ spec, common, availability, dependencies });
    return { spec, objects: objectsOf(stack, resolved), variables, revision };
  });
  problems.push(...duplicatesIn(components));
  return problems.length > 0 ? { problems } : { components };
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

function variablesOf(
  { name, dependsOn = [] }: ComponentSpec,
  facts: ReadonlyMap<string, ComponentFacts>,
  { logLevel = 'info' }: NonNullable<TrafficStackSpec['common']>,
): Variables {
  const components = Object.fromEntries(dependsOn.map((each) => [each, facts.get(each)]));
  return { self: facts.get(name), components, common: { logLevel } };
}

/** Objects that two components have, or one has twice. */
function duplicatesIn(components: readonly RenderedComponent[]): string[] {
  const all = components.flatMap(({ spec, objects }) => objects.map((each) => ({ of: spec.name, id: idOf(each) })));
  return [...Map.groupBy(all, ({ id }) => id)].flatMap(([id, [first, second]]) =>
    first !== undefined && second !== undefined ? [`${id} is of ${first.of} and of ${second.of}`] : [],
  );
}
