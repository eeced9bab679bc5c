/** Steps of one expression. A step is an evaluated node, an element of a list, or CHARACTERS of a text. */
export const MOST_STEPS = 100_000;
/** Steps of all files of a stack together. */
const MOST_STEPS_OF_FILES = 1_000_000;
/** Characters or bytes that count as one step. */
const CHARACTERS = 16;

/** The remaining steps. Below zero, the expression is refused. */
export interface Budget {
  left: number;
}

/** The budget that several texts share. */
export interface SharedBudget extends Budget {
  /** The texts that share it, for messages. */
  readonly of: string;
  /** Converted variables: thousands of expressions may use the same ones. */
  readonly converted: WeakMap<object, Record<string, unknown>>;
}

/** Creates the budget for all files of a stack. */
export function budgetOfFiles(steps: number = MOST_STEPS_OF_FILES): SharedBudget {
  return { ...budgetOf('the files of a stack'), left: steps };
}

/** Creates a budget of one expression that several share. @param of the texts that share it, for messages */
export function budgetOf(of: string): SharedBudget {
  return { left: MOST_STEPS, of, converted: new WeakMap() };
}

/** Takes steps from a budget. Throws when it has fewer. */
export function spend(budget: Budget, steps: number): void {
  // NaN would never be below zero.
  budget.left = Number.isFinite(steps) ? budget.left - Math.ceil(steps) : -1;
  if (budget.left < 0) throw new Error('no steps are left');
}

/** Returns the steps of reading or copying characters or bytes. */
export function stepsOf(characters: number): number {
  return characters / CHARACTERS;
}

/** Returns the steps of reading a value without nested elements, except the chain of first elements: the library reads these to find the type. */
function flatSteps(value: unknown): number {
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
 * Takes the steps of reading a value completely. A list that occurs twice counts twice, as in a comparison: with lists bound to names, a short
 * expression has 2^20 elements.
 */
function spendDeep(budget: Budget, value: unknown): void {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    spend(budget, 1 + ownSteps(next));
    if (typeof next !== 'object' || next === null || ArrayBuffer.isView(next)) continue;
    for (const each of Object.values(next)) open.push(each);
  }
}

/**
 * A node of the library's syntax tree, after the check of types. `handle` is what an operator or a function does with its operands,
 * which are the first parameters. `meta.alternate` is evaluated instead of the node, as for macros.
 */
interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly meta: { readonly alternate?: Node };
  handle?: (...operands: unknown[]) => unknown;
  readonly left?: Node;
  readonly right?: Node;
  check: (checker: Engine, node: Node, context: unknown) => unknown;
  evaluate: (engine: Engine, node: Node, context: unknown) => unknown;
}

/** The library's evaluator or checker: every node is evaluated by its `run`, or by `tryEval` where an error is a value. */
interface Engine {
  readonly registry: Record<'getListType' | 'getMapType' | 'getOptionalType', (...types: unknown[]) => unknown>;
  run: (node: Node, context: unknown) => unknown;
  tryEval: (node: Node, context: unknown) => unknown;
}

/** Characters of a type's name. Nested maps double it at each level. */
const LONGEST_TYPE = 1_000;
/** An error has a text with the expression, and the stack of calls. */
const STEPS_OF_ERROR = 100;
/** A time zone is looked up by its name. */
const STEPS_OF_ZONE = 1_000;
const DEEP: ReadonlySet<string> = new Set(['==', '!=', 'in']);

/**
 * Makes a parsed expression take steps from a budget: one for each node, and for the operands before an operator or a function reads them, since
 * its result may be longer. Limits the types of the check as well. Must be called before the check.
 */
export function meter(ast: unknown, budget: Budget): void {
  const root = ast as Node;
  const { check, evaluate } = root;
  root.check = (checker, node, context) => {
    limitTypes(checker);
    return check.call(root, checker, node, context);
  };
  root.evaluate = (engine, _, context) => {
    limitTypes(engine);
    meterEngine(engine, budget);
    root.evaluate = evaluate;
    return engine.run(root, context);
  };
}

function meterEngine(engine: Engine, budget: Budget): void {
  const metered = new WeakSet<Node>();
  const read = new WeakSet<Node>();
  engine.run = (node, context) => {
    spend(budget, 1);
    if (!metered.has(node)) {
      metered.add(node);
      meterHandle(node, budget);
      for (const each of readBy(node)) read.add(each);
    }
    const value = node.evaluate(engine, node, context);
    if (read.has(node)) spendDeep(budget, value);
    return value;
  };
  engine.tryEval = (node, context) => {
    try {
      return engine.run(node, context);
    } catch (error) {
      // Otherwise all() and || would go on.
      if (budget.left < 0) throw error;
      spend(budget, STEPS_OF_ERROR);
      return error;
    }
  };
}

function meterHandle(first: Node, budget: Budget): void {
  let node = first;
  while (node.meta.alternate !== undefined) node = node.meta.alternate;
  const { handle } = node;
  if (handle === undefined) return;
  node.handle = (...operands) => {
    charge(node, operands, budget);
    return handle(...operands);
  };
}

/** Returns the nodes whose values are read without a handle: keys of a map, which become texts, and operands of && and ||, which an error describes. */
function readBy({ op, args, left, right }: Node): Node[] {
  if (op === 'map') return (args as [Node, Node][]).map(([key]) => key);
  return op === '&&' || op === '||' ? [left, right].filter((each) => each !== undefined) : [];
}

function limitTypes({ registry }: Engine): void {
  for (const name of ['getListType', 'getMapType', 'getOptionalType'] as const) {
    const make = registry[name].bind(registry);
    registry[name] = (...types) => {
      const length = types.reduce<number>((sum, type) => sum + String(type).length, 0);
      if (length > LONGEST_TYPE) throw new Error('lists and maps are too deep within one another');
      return make(...types);
    };
  }
}

/** Takes the steps of an operator or a function. */
function charge({ op, args }: Node, [left, right]: readonly unknown[], budget: Budget): void {
  if (op === 'call' || op === 'rcall') {
    const [name] = args as [string];
    spend(budget, callSteps(name, left as unknown[]));
  } else if (DEEP.has(op)) {
    spendDeep(budget, left);
    spendDeep(budget, right);
  } else if (op === 'comprehension') spend(budget, flatSteps(left));
  // A list as a key becomes a text. Fields and elements are found without a look at the others.
  else if (op.startsWith('[')) spendDeep(budget, right);
  else if (!op.startsWith('.')) spend(budget, flatSteps(left) + flatSteps(right));
}

function callSteps(name: string, values: readonly unknown[]): number {
  const [first, second] = values;
  const flat = values.reduce<number>((sum, value) => sum + flatSteps(value), 0);
  switch (name) {
    case 'join':
      return flat + joinSteps(first, second);
    // One element for each character, or for each byte.
    case 'split':
    case 'json':
      return lengthOf(first) + searchSteps(first, second);
    case 'contains':
    case 'indexOf':
    case 'lastIndexOf':
      return flat + searchSteps(first, second);
    // The library's regular expression takes the third power of a row of digits.
    case 'duration':
      return stepsOf(lengthOf(first) ** 3);
    default:
      return name.startsWith('get') && second !== undefined ? flat + STEPS_OF_ZONE : flat;
  }
}

/** Returns the steps of a search, which may compare each character of one text with each of the other. */
function searchSteps(text: unknown, part: unknown): number {
  return stepsOf(lengthOf(text) * Math.max(1, lengthOf(part)));
}

function joinSteps(list: unknown, separator: unknown): number {
  if (!Array.isArray(list)) return 0;
  const characters = list.reduce<number>((sum, each) => sum + lengthOf(each), 0);
  return stepsOf(characters + list.length * lengthOf(separator));
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return ArrayBuffer.isView(value) ? value.byteLength : 0;
}
