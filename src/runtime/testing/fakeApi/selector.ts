import type { KubeObject } from '../../client/resource.ts';

/** The options of a list that select objects. */
interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/**
 * True when a list with these options has the object. Label selectors of equality, inequality and existence; field
 * selectors of equality and inequality.
 *
 * @throws Error for another selector
 */
export function matches(object: KubeObject, { namespace, labelSelector, fieldSelector }: Selection): boolean {
  if (namespace !== undefined && object.metadata?.namespace !== namespace) return false;
  const labels = object.metadata?.labels ?? {};
  const field = (path: string): string | undefined => fieldOf(object, path);
  return (
    terms(labelSelector).every((term) => holds(term, (key) => labels[key])) &&
    terms(fieldSelector).every((term) => holds(term, field))
  );
}

const terms = (selector = ''): string[] =>
  (/[()]/.test(selector) ? unknown(selector) : selector.split(',')).filter(Boolean);

function unknown(selector: string): never {
  throw new Error(`the fake API server does not know the selector ${selector}`);
}

function holds(term: string, valueOf: (key: string) => string | undefined): boolean {
  const [, key = '', operator, value] = /^([^=!]+?)(!=|==?)(.*)$/.exec(term) ?? [];
  if (operator === '!=') return valueOf(key) !== value;
  if (operator !== undefined) return valueOf(key) === value;
  return term.startsWith('!') ? valueOf(term.slice(1)) === undefined : valueOf(term) !== undefined;
}

function fieldOf(object: unknown, path: string): string | undefined {
  const value = path
    .split('.')
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], object);
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
}
