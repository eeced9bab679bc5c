import { Environment, type ASTNode } from '@marcbachmann/cel-js';

/** Values by the name of a variable: JSON. Whole numbers are ints in expressions, as in those of Kubernetes. */
export type Variables = Readonly<Record<string, unknown>>;

/** What an expression gives, or what is wrong with it: a part of a sentence. */
export type Evaluated = { readonly value: unknown } | { readonly problem: string };

/** Those who write stacks may run any pod; the limits are against mistakes. */
const LIMITS = { maxAstNodes: 1_000, maxDepth: 50 };
/** Macros such as map() within one another: each multiplies the work. */
const MOST_LOOPS = 2;
const LOOPS: ReadonlySet<string> = new Set(['map', 'filter', 'all', 'exists', 'exists_one']);

/**
 * Evaluates CEL, the expression language of Kubernetes' own rules (https://cel.dev). All types are dynamic but those of literals.
 * `matches` is not available: a RegExp can take years.
 */
export function evaluate(expression: string, variables: Variables): Evaluated {
  const parsed = parse(expression, Object.keys(variables));
  if ('problem' in parsed) return parsed;
  try {
    return { value: parsed.run(toCel(variables) as Record<string, unknown>) };
  } catch (error) {
    return { problem: summaryOf(error) };
  }
}

/** What is wrong with an expression, whatever the values of these variables are; undefined if nothing is. */
export function problemIn(expression: string, names: readonly string[]): string | undefined {
  const parsed = parse(expression, names);
  return 'problem' in parsed ? parsed.problem : undefined;
}

type Parsed = { readonly run: (values: Record<string, unknown>) => unknown } | { readonly problem: string };

function parse(expression: string, names: readonly string[]): Parsed {
  const environment = new Environment({
    ...{ enableOptionalTypes: true, homogeneousAggregateLiterals: false, limits: LIMITS },
  });
  for (const name of names) environment.registerVariable(name, 'dyn');
  try {
    const parsed = environment.parse(expression);
    const problem = unwanted(parsed.ast, 0);
    if (problem !== undefined) return { problem };
    const { error } = parsed.check();
    return error === undefined ? { run: (values) => parsed(values) as unknown } : { problem: summaryOf(error) };
  } catch (error) {
    return { problem: summaryOf(error) };
  }
}

/** The error without the drawing of the place in the text. */
function summaryOf(error: unknown): string {
  const { summary, message } = error as { summary?: string; message?: string };
  return summary ?? message ?? String(error);
}

/** What is not allowed in a part of an expression, within so many loops. */
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

function toCel(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object' || value === null) return value;
  const defined = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(defined.map(([key, field]) => [key, toCel(field)]));
}
