import { Environment } from '@marcbachmann/cel-js';
import type { PodPlacementSpec } from '../api/podplacement/schema.ts';
import { MATCH_CONDITIONS, patchExpression, VARIABLES } from './policy.ts';

/** One operation of a JSON patch (RFC 6902). */
export interface PatchOperation {
  readonly op: 'add';
  readonly path: string;
  readonly value: unknown;
}

type Context = Readonly<Record<'object' | 'params' | 'variables', unknown>>;
type Program = (context: Context) => unknown;

/** The functions of Kubernetes' list library that the policy uses. */
const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false })
  .registerVariable('object', 'dyn')
  .registerVariable('params', 'dyn')
  .registerVariable('variables', 'dyn')
  .registerFunction('list.flatten(): list', (list: unknown[]) => list.flat())
  .registerFunction('list.distinct(): list', distinct);

const compile = (expression: string): Program => environment.parse(expression) as Program;
const conditions = MATCH_CONDITIONS.map(({ expression }) => compile(expression));
const variables = VARIABLES.map(({ name, expression }) => ({ name, program: compile(expression) }));
const patch = compile(patchExpression((path, value) => `{'op': 'add', 'path': ${path}, 'value': ${value}}`));

/** A PodPlacement that is ready for podTerms. */
export interface PreparedPlacement {
  readonly spec: object;
}

/** Converts the positions of a PodPlacement to ints of CEL: a number of JSON is a double. */
export function prepare({ entries = [], byLabel = {}, others = [] }: PodPlacementSpec): PreparedPlacement {
  const ints = (positions: readonly number[]): bigint[] => positions.map(BigInt);
  const pairs = Object.entries(byLabel).map(([label, positions]) => [label, ints(positions)] as const);
  return { spec: { entries, byLabel: Object.fromEntries(pairs), others: ints(others) } };
}

/**
 * The patch that gives a new pod the node affinity of the TrafficWatches that select it, as the MutatingAdmissionPolicy does:
 * it evaluates the same expressions. Empty if the pod needs none, so a second patch of the same pod is empty.
 *
 * @param pod as an AdmissionReview has it; it may have any shape
 * @throws an error of CEL if the pod has not the shape that the expressions expect
 */
export function podTerms(pod: object, params: PreparedPlacement): readonly PatchOperation[] {
  const context = { object: pod, params, variables: {} };
  if (!conditions.every((isMet) => isMet(context) === true)) return [];
  for (const { name, program } of variables) defineLazily(context.variables, name, () => program(context));
  return toJson(patch(context)) as PatchOperation[];
}

/** As in the API server, a variable is evaluated when it is first read. */
function defineLazily(target: object, name: string, evaluate: () => unknown): void {
  Object.defineProperty(target, name, {
    enumerable: true,
    configurable: true,
    get: () => {
      const value = evaluate();
      Object.defineProperty(target, name, { enumerable: true, value });
      return value;
    },
  });
}

/** The first of equal elements: texts, or lists of texts. */
function distinct(list: readonly unknown[]): unknown[] {
  const first = new Map<string, unknown>();
  for (const each of list) {
    const key = JSON.stringify(each);
    if (!first.has(key)) first.set(key, each);
  }
  return [...first.values()];
}

/** Numbers for the ints of CEL. */
function toJson(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? Number(each) : each));
  return JSON.parse(text);
}
