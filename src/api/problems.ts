/** What is wrong with a value inside an object, and what is allowed there; without a path, a whole sentence. */
export interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** A list of hundreds of odd terms has as many problems; a person mends one after the other. */
const MOST_PROBLEMS = 5;

/** A sentence for each of the first five issues, with field, value and what is allowed; the rest are counted. */
export function problemTexts(object: unknown, issues: readonly Issue[]): string[] {
  const texts = issues.slice(0, MOST_PROBLEMS).map((issue) => problemText(object, issue));
  const more = issues.length - texts.length;
  return more > 0 ? [...texts, `and ${more} more`] : texts;
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

/** As JSON, as far as a person wants to read it; whole characters, since half of one is not kept by the API server. */
function abbreviate(value: unknown): string {
  const text = jsonOf(value);
  return text.length <= 80 ? text : `${text.slice(0, 77).toWellFormed()}...`;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Deeper than the stack: JSON.parse reads what JSON.stringify cannot write.
    return Array.isArray(value) ? '[...]' : '{...}';
  }
}
