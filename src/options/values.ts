import * as z from 'zod';
import { BIND_ADDRESS_FORMS, parseBindAddress, type BindAddress } from '../runtime/server/httpListener.ts';
import { LOG_LEVELS } from '../runtime/process/logger.ts';
import { readDuration } from '../runtime/process/duration.ts';

/** Parses the text of a flag or variable to a value. */
export interface ValueType<T> {
  /** Placeholder of the value in `--help`. */
  placeholder: string;
  /** The allowed values: the end of the sentence "must be ...". */
  allowed: string;
  schema: z.ZodType<T, string>;
  /** Redacts secrets of a text, valid or not, for messages. Absent if the text cannot contain secrets. */
  shown?: (text: string) => string;
}

const CENSOR = '[redacted]';

/** A label matcher, like LabelMatcher in src/usage. */
interface Matcher {
  name: string;
  op: '=' | '!=' | '=~' | '!~';
  value: string;
}

/** One HTTP header. */
interface Header {
  name: string;
  value: string;
}

/** Creates a type of values. @param read returns undefined for an invalid text */
export function valueType<T>(
  placeholder: string,
  allowed: string,
  read: (text: string) => T | undefined,
): ValueType<T> {
  const schema = z.string().transform((text, context) => {
    const value = read(text);
    if (value === undefined) {
      context.addIssue({ code: 'custom', message: `must be ${allowed}` });
      return z.NEVER;
    }
    return value;
  });
  return { placeholder, allowed, schema };
}

function matching(pattern: RegExp): (text: string) => string | undefined {
  return (text) => (pattern.test(text) ? text : undefined);
}

const TRUE = /^(1|t|T|true|TRUE|True)$/;
const FALSE = /^(0|f|F|false|FALSE|False)$/;

/** A boolean, like Go's strconv.ParseBool. */
export const boolean = valueType('true|false', 'true or false', (text) =>
  TRUE.test(text) ? true : FALSE.test(text) ? false : undefined,
);

/**
 * A duration in Go's notation, converted to milliseconds.
 *
 * @param least the shortest allowed duration, in the same notation
 */
export function duration(least: string): ValueType<number> {
  const leastMs = readDuration(least) ?? 0;
  return valueType('duration', `a duration such as 10s, 2m or 1m30s, ${least} at least`, (text) => {
    const ms = readDuration(text);
    return ms !== undefined && ms >= leastMs ? ms : undefined;
  });
}

/** A duration of whole seconds, converted to milliseconds. For Prometheus, whose notation has no fractions. */
export function wholeSeconds(least: string, most: string): ValueType<number> {
  const [leastMs = 0, mostMs = 0] = [readDuration(least), readDuration(most)];
  const allowed = `a duration of whole seconds such as 10s, 2m or 1m30s, from ${least} to ${most}`;
  return valueType('duration', allowed, (text) => {
    const ms = readDuration(text) ?? 0;
    return ms % 1000 === 0 && ms >= leastMs && ms <= mostMs ? ms : undefined;
  });
}

/** A whole number, like Go's flag.Int within bounds. */
export function wholeNumber(least: number, most: number): ValueType<number> {
  return valueType('number', `a whole number from ${least} to ${most}`, (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return number >= least && number <= most ? number : undefined;
  });
}

export const port = valueType('port', 'a TCP port from 1 to 65535', (text) => {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= 65_535 ? number : undefined;
});

export const address: ValueType<BindAddress | 'off'> = valueType('address', BIND_ADDRESS_FORMS, parseBindAddress);

/** RFC 1123 label: the name of a namespace or Service. */
export const dnsLabel = valueType(
  'name',
  'a DNS label: up to 63 lower-case letters, digits and hyphens, the first and last no hyphen',
  matching(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/),
);

/** RFC 1123 subdomain: the name of most other objects. */
export const dnsSubdomain = valueType(
  'name',
  'a DNS subdomain: DNS labels with dots between them, up to 253 characters',
  matching(/^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/),
);

export const logLevel = valueType('level', `one of ${LOG_LEVELS.join(', ')}`, (text) =>
  LOG_LEVELS.find((level) => level === text),
);

export const path = valueType('path', 'the path of a file or directory', matching(/^[^\0\n]+$/));

export const image = valueType(
  'image',
  'an image reference such as quay.io/prometheus/prometheus:v3.15.0',
  matching(/^[\w][\w./:@-]*$/),
);

export const text = valueType('text', 'a text of one line', matching(/^[^\0\r\n]+$/));

/** URL of a server. Credentials are rejected, because they would appear in logs and process lists. */
export const url: ValueType<string> = {
  ...valueType('url', 'an http or https URL without user, query and fragment', (given) => {
    const parsed = URL.parse(given);
    const isPlain = parsed?.username === '' && parsed.password === '' && parsed.search === '' && parsed.hash === '';
    return isPlain && /^https?:$/.test(parsed.protocol) ? given : undefined;
  }),
  // Redact up to the last @: in an invalid URL, the password may contain any character.
  shown: (given) => given.replace(/^([a-z]+:\/\/)?.*@/is, `$1${CENSOR}@`).replace(/[?#].*/s, `?${CENSOR}`),
};

/**
 * 'Name: value' or 'Name=value'. Names follow RFC 9110. Values are limited to what node:http sends: Latin-1 without
 * control characters.
 */
export const header: ValueType<Header> = {
  ...valueType(
    'name: value',
    "a header such as 'X-Scope-OrgID: team-a', its value in Latin-1 and without control characters",
    (given) => {
      const match = /^([!#$%&'*+.^_`|~\w-]+)\s*[:=]\s*([\t\x20-\x7e\x80-\xff]*?)\s*$/.exec(given);
      const [, name = '', value = ''] = match ?? [];
      return name === '' || value === '' ? undefined : { name, value };
    },
  ),
  // The value may be a secret. Without a colon, redact the whole text: it may be a key, which often ends in '='.
  shown: (given) => `${/^[\w-]+:/.exec(given)?.[0].concat(' ') ?? ''}${CENSOR}`,
};

/**
 * A PromQL label matcher; the quotes of the value are optional. A name with other characters than letters, digits and _ is quoted, as in PromQL
 * (https://prometheus.io/docs/guides/utf8/). Does not validate a regular expression: its syntax is
 * RE2, which differs from JavaScript's. Prometheus reports an error in the answer to the first query.
 */
export const matcher: ValueType<Matcher> = valueType(
  'name=value',
  `a label matcher such as cluster=x, env=~'prod|stage' or "k8s.cluster.name"=x`,
  (given) => {
    const match = /^([a-zA-Z_]\w*|"(?:[^"\\]|\\.)+")\s*(=~|!~|!=|=)\s*(.*)$/s.exec(given.trim());
    const [, name = '', op = '', quoted = ''] = match ?? [];
    return match === null ? undefined : { name: unquoted(name), op: op as Matcher['op'], value: unquoted(quoted) };
  },
);

/**
 * The name of a Prometheus label.
 *
 * @param except names that are not allowed
 */
export function labelName(except: readonly string[]): ValueType<string> {
  return valueType(
    'label',
    `the name of a label, such as replica or prometheus_replica, and none of ${except.join(', ')}`,
    (given) => (/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(given) && !except.includes(given) ? given : undefined),
  );
}

export const regExp = valueType(
  'regexp',
  'a regular expression that RE2 and JavaScript read alike, such as veth.*|cni[0-9]+',
  (given) => (given !== '' && isShared(given) ? given : undefined),
);

function unquoted(given: string): string {
  const match = /^"((?:[^"\\]|\\.)*)"$|^'([^']*)'$/s.exec(given);
  return match === null ? given : (match[1]?.replaceAll(/\\(.)/gs, '$1') ?? match[2] ?? '');
}

/**
 * Syntax that JavaScript accepts, but RE2 rejects or reads differently (https://github.com/google/re2/wiki/Syntax):
 * escaped letters that only one of them knows, back references, `]` at the start of a class, and [:alpha:] in a class.
 */
const IN_ONE_ONLY = /\\(?:[1-9]|(?![bBdDfnrsStvwWx])[a-zA-Z])|\[\^?\]|\[[^\]]*\[:/;
const LOOKING_AROUND = /\(\?<?[=!]/;

function isShared(given: string): boolean {
  try {
    new RegExp(given);
  } catch {
    return false;
  }
  const withoutEscapes = given.replaceAll(/\\[^a-zA-Z1-9]/gs, '_');
  const withoutClasses = withoutEscapes.replaceAll(/\[[^\]]*\]/g, '_');
  return !IN_ONE_ONLY.test(withoutEscapes) && !LOOKING_AROUND.test(withoutClasses);
}
