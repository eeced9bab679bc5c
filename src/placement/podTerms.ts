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
  .registerFunction('list.sort(): list', (list: bigint[]) => list.toSorted((a, b) => Number(a - b)))
  .registerFunction('list.distinct(): list', distinct);

const compile = (expression: string): Program => environment.parse(expression) as Program;
const conditions = MATCH_CONDITIONS.map(({ expression }) => compile(expression));
const variables = VARIABLES.map(({ name, expression }) => ({ name, program: compile(expression) }));
const patch = compile(patchExpression((path, value) => `{'op': 'add', 'path': ${path}, 'value': ${value}}`));

/**
 * The labels of a pod if they are many, and its terms with their expressions and fields. An evaluation takes 0.1 ms for each at most, and blocks the process;
 * the API server bounds the cost of a policy in its own way.
 */
const MOST_REQUIREMENTS = 2_000;
/** The requirements that a patch adds to all terms of a pod. Each takes 4 µs at most, and 100 bytes of the answer. */
const MOST_ADDED = 5_000;
/** Objects with fewer fields do not count. */
const USUAL_FIELDS = 100;

/** A PodPlacement that is ready for podTerms: its parts as CEL has them. */
export type PreparedPlacement = ReadonlyMap<string, unknown>;

/** Prepares a PodPlacement, for all pods of its namespace. */
export function prepare(spec: PodPlacementSpec): PreparedPlacement {
  return new Map([['spec', toCel(spec)]]);
}

/**
 * The patch that gives a new pod the node affinity of the TrafficWatches that select it, as the MutatingAdmissionPolicy does:
 * it evaluates the same expressions. Empty if the pod needs none, so a second patch of the same pod is empty.
 *
 * @param pod as an AdmissionReview has it; it may have any shape
 * @throws an error of CEL if the pod has not the shape that the expressions expect; Error above MOST_REQUIREMENTS or MOST_ADDED
 */
export function podTerms(pod: object, params: PreparedPlacement): readonly PatchOperation[] {
  const context = { object: toCel(partsOf(pod), { left: MOST_REQUIREMENTS }), params, variables: {} };
  if (!conditions.every((isMet) => isMet(context) === true)) return [];
  for (const { name, program } of variables) defineLazily(context.variables, name, () => program(context));
  checkSize(context.variables as Lists);
  return toJson(patch(context)) as PatchOperation[];
}

type Lists = Readonly<Record<'terms' | 'required' | 'avoided' | 'names', readonly unknown[]>>;

/** Each term gets the requirements of all TrafficWatches. Lists of another shape have no length, and fail in the patch. */
function checkSize({ terms, required, avoided, names }: Lists): void {
  const added = required.length + 2 * avoided.length + names.length;
  if (Math.max(terms.length, 1) * added <= MOST_ADDED) return;
  throw new Error(
    `${terms.length} node selector terms would get ${added} requirements each: more than ${MOST_ADDED} in all`,
  );
}

/** The parts that the expressions read: the others, such as containers, are never converted. */
function partsOf(pod: { metadata?: unknown; spec?: unknown }): object {
  const pick = (object: unknown, fields: readonly string[]): unknown =>
    typeof object === 'object' && object !== null
      ? Object.fromEntries(Object.entries(object).filter(([field]) => fields.includes(field)))
      : object;
  const spec = pick(pod.spec, ['nodeName', 'affinity']);
  const { affinity } = (spec ?? {}) as { affinity?: unknown };
  return {
    metadata: pick(pod.metadata, ['labels', 'ownerReferences']),
    spec: affinity === undefined ? spec : { ...(spec as object), affinity: pick(affinity, ['nodeAffinity']) },
  };
}

/**
 * Whole numbers are ints, and objects maps: the interpreter takes an object with a key such as "constructor", which labels
 * may have, for one of an unknown class.
 *
 * @param budget for the elements of lists and large objects
 */
function toCel(value: unknown, budget = { left: Infinity }): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  if (Array.isArray(value) || entries.length > USUAL_FIELDS) budget.left -= entries.length;
  if (budget.left < 0) throw new Error(`labels and node affinity have more than ${MOST_REQUIREMENTS} parts`);
  if (Array.isArray(value)) return value.map((each) => toCel(each, budget));
  return new Map(entries.filter(([, each]) => each !== undefined).map(([key, each]) => [key, toCel(each, budget)]));
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

/** The opposite of toCel. */
function toJson(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each === 'bigint') return Number(each);
    return each instanceof Map ? Object.fromEntries(each as Map<string, unknown>) : each;
  });
  return JSON.parse(text);
}
