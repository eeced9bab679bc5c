/** A PromQL label matcher such as cluster="x". */
export interface LabelMatcher {
  name: string;
  op: '=' | '!=' | '=~' | '!~';
  /** Not escaped. */
  value: string;
}

/** The matchers of a selector. */
export function braces(matchers: readonly LabelMatcher[]): string {
  return `{${matchers.map(({ name, op, value }) => `${nameOf(name)}${op}${quotePromQL(value)}`).join(',')}}`;
}

/** Any other label name than a plain one is quoted: https://prometheus.io/docs/guides/utf8/#querying */
function nameOf(label: string): string {
  return LABEL_NAME.test(label) ? label : quotePromQL(label);
}

/** Quotes a PromQL string literal, which has the escapes of Go. Prevents injection: no value can end the literal. */
export function quotePromQL(value: string): string {
  // The escapes of JSON.stringify are valid in Go, except lone surrogates (\ud800). toWellFormed() replaces those.
  return JSON.stringify(value.toWellFormed());
}

/** Quotes a text for a regular expression. */
export function quoteMeta(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}

/** A label name that needs no quotes. */
export const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
