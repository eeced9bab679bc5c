import type { ComponentState } from '../../../../api/trafficstack/terms.ts';
import { cut } from '../../../../runtime/controller/conditions.ts';
import { evaluate } from '../../expression/expression.ts';
import type { Answer, AskAgain, ObservedComponent } from '../../observe/observation.ts';

/** Why a component whose pods are available is not ready. */
export interface Unmet {
  /** Unknown if the query has no answer. Undefined: as for pods that are not available. */
  readonly state?: ComponentState;
  readonly message: string;
  /** Its query, if the last answer does not count. */
  readonly again?: AskAgain;
}

/** Characters of an expression that a message repeats. */
const LONGEST_QUOTE = 120;

/**
 * What keeps a component whose pods are available from being ready: its expression, then its query. Undefined if nothing does.
 *
 * @param wasReady whether it was ready with this very spec: then it stays so until its query is asked, as after a restart
 */
export function unmetBy(component: ObservedComponent, wasReady: boolean): Unmet | undefined {
  return unmetExpression(component) ?? unmetQuery(component, wasReady);
}

function unmetExpression({ spec, objects, variables }: ObservedComponent): Unmet | undefined {
  const expression = spec.ready?.expression;
  if (expression === undefined) return undefined;
  const live = objects.flatMap(({ live: each }) => each ?? []);
  const services = live.filter(({ kind }) => kind === 'Service');
  const result = evaluate(expression, { ...variables, workload: live.at(-1), services });
  const what = `ready.expression ${quoted(expression)}`;
  if ('problem' in result) return { message: `${what}: ${result.problem}` };
  if (result.value === true) return undefined;
  if (result.value === false) return { message: `${what} is false` };
  return { message: `${what} gives no bool` };
}

function unmetQuery({ spec, answer }: ObservedComponent, wasReady: boolean): Unmet | undefined {
  const query = spec.ready?.query;
  if (query === undefined || answer === undefined) return undefined;
  return unmetAnswer({ query, answer }, 'ready.query', wasReady);
}

/**
 * What a query does not say yet; undefined if it is true.
 *
 * @param field that has the query, for messages
 * @param wasTrue whether it was true before: then it counts as true until it is asked
 */
export function unmetAnswer(
  { query, answer }: { readonly query: string; readonly answer: Answer },
  field: string,
  wasTrue: boolean,
): Unmet | undefined {
  const what = `${field} ${quoted(query)}`;
  switch (answer.is) {
    case 'True':
      return undefined;
    case 'False':
      return { message: `${what} ${answer.message}` };
    case 'Unknown':
      return { state: 'Unknown', message: `${what}: ${answer.message}` };
    case 'Pending':
      return wasTrue ? undefined : { state: 'Unknown', ...pending(query, answer, what) };
  }
}

function pending(query: string, { since }: { readonly since?: number }, what: string): Omit<Unmet, 'state'> {
  if (since === undefined) return { message: `${what} is not answered yet` };
  return { message: `${what} is asked again`, again: { query, since } };
}

/** An expression or a query in quotation marks, cut to be part of a message. */
export function quoted(text: string): string {
  return `"${cut(text, LONGEST_QUOTE)}"`;
}
