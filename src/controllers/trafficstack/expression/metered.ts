import { flatSteps, spend, spendDeep, stepsOf, type Budget } from './budget.ts';

/**
 * A node of the library's syntax tree, after the check of types. `handle` is what an operator or a function does with its operands,
 * which are the first parameters. `meta.alternate` is evaluated in place of the node, as for macros.
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

/** Characters of the name of a type. A map that is key and value of the next one doubles the name. */
const LONGEST_TYPE = 1_000;
/** An error has a text with the expression, and the stack of calls. */
const STEPS_OF_ERROR = 100;
/** A time zone is looked up by its name. */
const STEPS_OF_ZONE = 1_000;
const DEEP: ReadonlySet<string> = new Set(['==', '!=', 'in']);

/**
 * Makes the evaluation of a parsed expression take steps from a budget: one for each node, and those of the operands before an operator
 * or a function has them, since its result may be longer. Also limits the types that the check makes. To be called before the check.
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

/**
 * Nodes whose values are read without a handle: the keys of a map, which become texts, and the operands of && and ||, which an error
 * describes.
 */
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

/** A search may compare each character of the one with each of the other. */
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
