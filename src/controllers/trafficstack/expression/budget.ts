/** Steps of one expression: a step is a node of the expression that is evaluated, an element of a list, or CHARACTERS of a text. */
export const MOST_STEPS = 100_000;
/** Steps of all files of a stack together. */
const MOST_STEPS_OF_FILES = 1_000_000;
/** Characters or bytes that count as one step. */
const CHARACTERS = 16;

/** Steps that are left. Below zero, the expression is refused. */
export interface Budget {
  left: number;
}

/** What the expressions of several texts take together, for as long as their variables do not change. */
export interface SharedBudget extends Budget {
  /** Variables as the library has them: thousands of expressions may be over the same ones. */
  readonly converted: WeakMap<object, Record<string, unknown>>;
}

/** A budget for all files of a stack. */
export function budgetOfFiles(steps: number = MOST_STEPS_OF_FILES): SharedBudget {
  return { left: steps, converted: new WeakMap() };
}

/** Takes steps from a budget. Throws when it has fewer. */
export function spend(budget: Budget, steps: number): void {
  // NaN would never be below zero.
  budget.left = Number.isFinite(steps) ? budget.left - Math.ceil(steps) : -1;
  if (budget.left < 0) throw new Error('no steps are left');
}

/** Steps of reading or copying so many characters or bytes. */
export function stepsOf(characters: number): number {
  return characters / CHARACTERS;
}

/**
 * Steps of reading a value without what its elements contain, but with its first element, the first element of that, and so on: the
 * library reads them to find the type of a value.
 */
export function flatSteps(value: unknown): number {
  let steps = 0;
  for (let next: unknown = value; next !== undefined; next = firstElementOf(next)) steps += ownSteps(next);
  return steps;
}

function ownSteps(value: unknown): number {
  if (typeof value === 'string') return stepsOf(value.length);
  if (ArrayBuffer.isView(value)) return stepsOf(value.byteLength);
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function firstElementOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return undefined;
  if (Array.isArray(value)) return value[0];
  const [first] = Object.keys(value);
  return first === undefined ? undefined : (value as Record<string, unknown>)[first];
}

/**
 * Takes the steps of reading a value with all that it contains. A list that is twice in a value counts twice, as for a comparison: with
 * lists of lists that are bound to names, a short expression has 2^20 elements.
 */
export function spendDeep(budget: Budget, value: unknown): void {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    spend(budget, 1 + ownSteps(next));
    if (typeof next !== 'object' || next === null || ArrayBuffer.isView(next)) continue;
    for (const each of Object.values(next)) open.push(each);
  }
}
