import { Environment, type ASTNode } from '@marcbachmann/cel-js';
import { cut } from '../../../runtime/controller/conditions.ts';
import { MOST_STEPS, spend, type Budget, type SharedBudget, meter } from './budget.ts';

/** Values by the name of a variable: JSON. Whole numbers are ints, as in expressions of Kubernetes. */
export type Variables = Readonly<Record<string, unknown>>;

/** The value of an expression, or its problem: a part of a sentence. */
type Evaluated = { readonly value: unknown } | { readonly problem: string };

/** Limits of the parser. They bound the expression; `meter` bounds the work. */
const LIMITS = { maxAstNodes: 1_000, maxDepth: 50 };
/** Characters of an expression, as in the schema of `ready.expression`. The expressions of files have no schema. */
const LONGEST = 4_096;
/** Characters of a problem, which may repeat a value. */
const LONGEST_PROBLEM = 500;
/** Steps of parsing one expression, besides one step for each character. */
const STEPS_OF_PARSE = 100;
const TOO_COSTLY = 'use smaller lists and texts, fewer macros such as map() within one another, and fewer expressions';
/** Nested macros such as map(). Each level multiplies the work. */
const MOST_LOOPS = 2;
const LOOPS: ReadonlySet<string> = new Set(['map', 'filter', 'all', 'exists', 'exists_one']);

/**
 * Evaluates CEL, the expression language of Kubernetes' own rules (https://cel.dev). Only literals have static types.
 * `matches` is not available: a RegExp can take years. An expression that takes more than MOST_STEPS is a problem, whatever its values
 * are, because it would keep the operator from everything else.
 *
 * @param shared what several expressions may take together; the steps of this one are taken from it
 */
export function evaluate(expression: string, variables: Variables, shared?: SharedBudget): Evaluated {
  const most = Math.min(MOST_STEPS, Math.max(0, shared?.left ?? MOST_STEPS));
  const budget = { left: most };
  const evaluated = evaluateWithin(expression, budget, () => celOf(variables, shared), Object.keys(variables));
  if (shared !== undefined) shared.left -= most - budget.left;
  if (budget.left >= 0) return evaluated;
  const limit = shared !== undefined && most < MOST_STEPS ? `${shared.of} may take together` : `${MOST_STEPS} steps`;
  return { problem: `costs more than ${limit}: ${TOO_COSTLY}` };
}

function evaluateWithin(
  expression: string,
  budget: Budget,
  values: () => Record<string, unknown>,
  names: readonly string[],
): Evaluated {
  try {
    spend(budget, STEPS_OF_PARSE + expression.length);
    const parsed = parse(expression, names, budget);
    return 'problem' in parsed ? parsed : { value: parsed.run(values()) };
  } catch (error) {
    return { problem: summaryOf(error) };
  }
}

/** Returns the problem of an expression with any values of these variables. Undefined if there is none. */
export function problemIn(expression: string, names: readonly string[]): string | undefined {
  const parsed = parse(expression, names, { left: MOST_STEPS });
  return 'problem' in parsed ? parsed.problem : undefined;
}

type Parsed = { readonly run: (values: Record<string, unknown>) => unknown } | { readonly problem: string };

function parse(expression: string, names: readonly string[], budget: Budget): Parsed {
  if (expression.length > LONGEST) {
    return { problem: `has ${expression.length} characters: at most ${LONGEST} are allowed` };
  }
  const environment = new Environment({
    ...{ enableOptionalTypes: true, homogeneousAggregateLiterals: false, limits: LIMITS },
  });
  for (const name of names) environment.registerVariable(name, 'dyn');
  try {
    const parsed = environment.parse(expression);
    const problem = unwanted(parsed.ast, 0);
    if (problem !== undefined) return { problem };
    meter(parsed.ast, budget);
    const { error } = parsed.check();
    return error === undefined ? { run: (values) => parsed(values) as unknown } : { problem: summaryOf(error) };
  } catch (error) {
    return { problem: summaryOf(error) };
  }
}

/** Returns the message of an error without the drawing of its place. */
function summaryOf(error: unknown): string {
  const { summary, message } = error as { summary?: string; message?: string };
  return cut(summary ?? message ?? String(error), LONGEST_PROBLEM);
}

/** Returns the first forbidden part of an expression. Undefined if there is none. */
function unwanted(node: unknown, loops: number): string | undefined {
  if (Array.isArray(node)) return node.map((each) => unwanted(each, loops)).find((each) => each !== undefined);
  if (typeof node !== 'object' || node === null || !('args' in node)) return undefined;
  const { args } = node as Pick<ASTNode, 'args'>;
  const called: unknown = Array.isArray(args) ? args[0] : undefined;
  if (called === 'matches') return 'matches() is not available: use startsWith, endsWith, contains or ==';
  const within = typeof called === 'string' && LOOPS.has(called) ? loops + 1 : loops;
  if (within > MOST_LOOPS) return `at most ${MOST_LOOPS} macros such as map() may be within one another`;
  return unwanted(args, within);
}

function celOf(variables: Variables, shared?: SharedBudget): Record<string, unknown> {
  const values = shared?.converted.get(variables) ?? (toCel(variables) as Record<string, unknown>);
  shared?.converted.set(variables, values);
  return values;
}

function toCel(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object' || value === null) return value;
  const defined = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(defined.map(([key, field]) => [key, toCel(field)]));
}
