import { cut } from '../../../runtime/controller/conditions.ts';
import { budgetOfFiles, stepsOf, type SharedBudget } from './budget.ts';
import { evaluate, type Variables } from './expression.ts';

/** A text with evaluated expressions, or the problem of one: a sentence with the line. */
type RenderedText = { readonly text: string } | { readonly problem: string };

const HINT = 'write "$${" for the text "${"';
/** Characters of a quoted expression. */
const LONGEST_QUOTE = 120;
const QUOTES: ReadonlySet<string> = new Set(['"', "'"]);

/**
 * Renders a text. `${EXPRESSION}` becomes what the CEL expression gives: a string, number or bool. `$${` becomes `${`. The end of an
 * expression is the first `}` that closes none of its own braces and is in none of its strings (raw strings with a backslash before the end are not supported).
 *
 * @param budget the steps that are left for this text and the others of its stack
 */
export function renderText(template: string, variables: Variables, budget = budgetOfFiles()): RenderedText {
  let text = '';
  let at = 0;
  for (;;) {
    const start = template.indexOf('${', at);
    if (start < 0) return { text: text + template.slice(at) };
    if (template[start - 1] === '$' && start > at) {
      text += `${template.slice(at, start - 1)}\${`;
      at = start + 2;
      continue;
    }
    const end = endOf(template, start + 2);
    if (end === undefined) return { problem: `${lineAt(template, start)}: the "\${" has no "}"; ${HINT}` };
    const expression = template.slice(start + 2, end);
    const value = textOf(expression, variables, budget);
    if ('problem' in value)
      return { problem: `${lineAt(template, start)}: \${${cut(expression, LONGEST_QUOTE)}}: ${value.problem}` };
    text += template.slice(at, start) + value.text;
    at = end + 1;
  }
}

function lineAt(template: string, at: number): string {
  return `line ${template.slice(0, at).split('\n').length}`;
}

/** Returns the end of the expression that begins at `start`. Undefined if it has none. */
function endOf(template: string, start: number): number | undefined {
  let depth = 0;
  let quote: string | undefined;
  for (let at = start; at < template.length; at += 1) {
    const character = template[at] ?? '';
    if (quote !== undefined) {
      if (character === '\\') at += 1;
      else if (character === quote) quote = undefined;
    } else if (QUOTES.has(character)) quote = character;
    else if (character === '{') depth += 1;
    else if (character === '}' && depth === 0) return at;
    else if (character === '}') depth -= 1;
  }
  return undefined;
}

/** Adds a hint: a variable of a shell is not CEL, and `components` has only the names in dependsOn. */
function hintFor(problem: string): string {
  return /^(?:Unknown variable|Unexpected)/.test(problem) ? `; ${HINT}` : '';
}

function textOf(expression: string, variables: Variables, budget: SharedBudget): RenderedText {
  const evaluated = evaluate(expression, variables, budget);
  if ('problem' in evaluated) return { problem: `${evaluated.problem}${hintFor(evaluated.problem)}` };
  const { value } = evaluated;
  switch (typeof value) {
    case 'string':
      // The text of a value may be repeated by the next expressions.
      budget.left -= Math.ceil(stepsOf(value.length));
      return { text: value };
    case 'number':
    case 'bigint':
    case 'boolean':
      return { text: String(value) };
    default:
      return { problem: 'must give a string, a number or a bool; join a list, as in self.addresses.join(",")' };
  }
}
