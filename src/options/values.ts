import * as z from 'zod';
import { BIND_ADDRESS_FORMS, parseBindAddress, type BindAddress } from '../runtime/server/bindAddress.ts';
import { LOG_LEVELS } from '../runtime/process/logger.ts';
import { readDuration } from './duration.ts';

/** How the text of a flag or variable becomes a value. */
export interface ValueType<T> {
  /** Stands for the value in `--help`. */
  placeholder: string;
  /** What is allowed, to end the sentence "must be ...". */
  allowed: string;
  schema: z.ZodType<T, string>;
  /** What of a text may be repeated in a message, right or wrong; all of it where this is absent. */
  shown?: (text: string) => string;
}

const CENSOR = '[redacted]';

/** A matcher of a label, as in usage's LabelMatcher. */
export interface Matcher {
  name: string;
  op: '=' | '!=' | '=~' | '!~';
  value: string;
}

/** One HTTP header. */
export interface Header {
  name: string;
  value: string;
}

/** @param read undefined for a text that is not allowed */
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

/** A truth value as Go's strconv.ParseBool takes it. */
export const boolean = valueType('true|false', 'true or false', (text) =>
  TRUE.test(text) ? true : FALSE.test(text) ? false : undefined,
);

/**
 * A duration in Go's notation, in milliseconds.
 *
 * @param least the shortest that is allowed, in the same notation
 */
export function duration(least: string): ValueType<number> {
  const leastMs = readDuration(least) ?? 0;
  return valueType('duration', `a duration such as 10s, 2m or 1m30s, ${least} at least`, (text) => {
    const ms = readDuration(text);
    return ms !== undefined && ms >= leastMs ? ms : undefined;
  });
}

/** A duration that Prometheus can be told, whose notation has no fractions: whole seconds, in milliseconds. */
export function wholeSeconds(least: string, most: string): ValueType<number> {
  const [leastMs = 0, mostMs = 0] = [readDuration(least), readDuration(most)];
  const allowed = `a duration of whole seconds such as 10s, 2m or 1m30s, from ${least} to ${most}`;
  return valueType('duration', allowed, (text) => {
    const ms = readDuration(text) ?? 0;
    return ms % 1000 === 0 && ms >= leastMs && ms <= mostMs ? ms : undefined;
  });
}

export const port = valueType('port', 'a TCP port from 1 to 65535', (text) => {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= 65_535 ? number : undefined;
});

export const address: ValueType<BindAddress | 'off'> = valueType('address', BIND_ADDRESS_FORMS, parseBindAddress);

/** RFC 1123 label, as names of namespaces and Services are. */
export const dnsLabel = valueType(
  'name',
  'a DNS label: up to 63 lower-case letters, digits and hyphens, the first and last no hyphen',
  matching(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/),
);

/** RFC 1123 subdomain, as names of most objects are. */
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

/** A server's URL. Credentials in it would end up in logs and process lists; query and fragment have no meaning. */
export const url: ValueType<string> = {
  ...valueType('url', 'an http or https URL without user, query and fragment', (given) => {
    const parsed = URL.parse(given);
    const isPlain = parsed?.username === '' && parsed.password === '' && parsed.search === '' && parsed.hash === '';
    return isPlain && /^https?:$/.test(parsed.protocol) ? given : undefined;
  }),
  // Up to the last @, since a URL that is none may have a password with anything in it.
  shown: (given) => given.replace(/^([a-z]+:\/\/)?.*@/is, `$1${CENSOR}@`).replace(/[?#].*/s, `?${CENSOR}`),
};

/**
 * 'Name: value' or 'Name=value'; names as RFC 9110 has them, values as node:http sends them: no control characters, and
 * nothing beyond Latin-1.
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
  // A value may be a key; where no colon ends a name, the whole may be one: keys often end in '='.
  shown: (given) => `${/^[\w-]+:/.exec(given)?.[0].concat(' ') ?? ''}${CENSOR}`,
};

/**
 * A matcher as PromQL has it; quotes around the value may be left out. Regular expressions in it are Prometheus' own
 * matter: RE2's syntax is another than JavaScript's, and what it refuses is said by the first answer.
 */
export const matcher: ValueType<Matcher> = valueType(
  'name=value',
  "a label matcher such as cluster=x or env=~'prod|stage'",
  (given) => {
    const match = /^([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*(.*)$/s.exec(given.trim());
    const [, name = '', op = '', quoted = ''] = match ?? [];
    return match === null ? undefined : { name, op: op as Matcher['op'], value: unquoted(quoted) };
  },
);

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
 * What JavaScript takes and RE2 refuses or reads otherwise (https://github.com/google/re2/wiki/Syntax): letters escaped
 * that stand for something in one of them only, references back, `]` at the beginning of a class, classes such as
 * [:alpha:] in one.
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
