import type * as z from 'zod';

/** A problem of one field. `message` says what is allowed; with an empty path it is a whole sentence. */
export interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Maximum number of problems in a text. A list of hundreds of invalid terms has as many problems. */
const MOST_PROBLEMS = 5;

/** One sentence for each of the first five issues: field, value, what is allowed. Counts the others. */
export function problemTexts(object: unknown, issues: readonly Issue[]): string[] {
  const texts = issues.slice(0, MOST_PROBLEMS).map((issue) => problemText(object, issue));
  const more = issues.length - texts.length;
  return more > 0 ? [...texts, `and ${more} more`] : texts;
}

/**
 * Parses the spec of an object from the API server, which may store one that an older CRD accepted. Each entry of `problems`
 * is one sentence with the field, its value and the allowed values.
 */
export function parseSpec<S>(schema: z.ZodType<S>, spec: unknown): { spec: S } | { problems: string[] } {
  const parsed = schema.safeParse(spec);
  if (parsed.success) return { spec: parsed.data };
  const issues = parsed.error.issues.map(({ path, message }) => ({ path: ['spec', ...path], message }));
  return { problems: problemTexts({ spec }, issues) };
}

function problemText(object: unknown, { path, message }: Issue): string {
  if (path.length === 0) return message;
  const value = path.reduce<unknown>((at, key) => ownValue(at, key), object);
  const got = value === undefined ? 'is missing' : `is ${abbreviate(value)}`;
  return `${path.join('.')} ${got}: ${message}`;
}

function ownValue(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<PropertyKey, unknown>)[key]
    : undefined;
}

/** The value as JSON, at most 80 characters. Never half a surrogate pair, which the API server does not keep. */
function abbreviate(value: unknown): string {
  const text = jsonOf(value);
  return text.length <= 80 ? text : `${text.slice(0, 77).toWellFormed()}...`;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested too deeply for the stack: JSON.parse accepts values that JSON.stringify cannot write.
    return Array.isArray(value) ? '[...]' : '{...}';
  }
}
