import { describe, expect, it } from 'vitest';
import { EndpointCredentials } from '../prometheus/endpoint.ts';
import { checkQuery } from '../usage/pass/checkQuery.ts';
import { dnsSubdomain, duration, header, matcher, regExp, wholeSeconds, type ValueType } from './values.ts';

function read<T>(type: ValueType<T>, text: string): T | undefined {
  return type.schema.safeParse(text).data;
}

describe('durations', () => {
  it.each([
    ['1m0.5s', 60_500, undefined],
    ['1500ms', 1_500, undefined],
    ['2000ms', 2_000, 2_000],
    ['4.1m', 246_000, 246_000],
    ['0.1s0.2s0.7s', 1_000, 1_000],
    ['24h', 86_400_000, 86_400_000],
    ['24h1s', 86_401_000, undefined],
    ['9999999999999h', 35_999_999_999_996_400_000, undefined],
    ['999ms', undefined, undefined],
  ])('%s is %s ms, and %s ms if whole seconds are required', (text, any, whole) => {
    expect(read(duration('1s'), text)).toBe(any);
    expect(read(wholeSeconds('1s', '24h'), text)).toBe(whole);
  });
});

describe('a name', () => {
  it.each(['system-node-critical', 'a', '0.b-c.d', 'x'.repeat(253)])('is accepted: %s', (name) =>
    expect(read(dnsSubdomain, name)).toBe(name),
  );

  it.each(['', 'A', 'a_b', '-a', 'a-', 'a..b', '.a', 'a.', 'a/b', 'x'.repeat(254)])('is rejected: %j', (name) =>
    expect(read(dnsSubdomain, name)).toBeUndefined(),
  );
});

describe('a header', () => {
  it.each([
    ['X-A: é', 'é'],
    ['X-A: a\tb', 'a\tb'],
    ['X-A: €', undefined],
    ['X-A: a\u0001b', undefined],
    ['X-A: a\nb', undefined],
    ['X-€: a', undefined],
  ])('%j has the value %j', (text, value) => {
    const one = read(header, text);
    expect(one?.value).toBe(value);
    // node:http must accept what the flag accepts.
    if (one !== undefined) new EndpointCredentials({ url: 'http://p', headers: { [one.name]: one.value } });
  });
});

describe('a regular expression', () => {
  it.each(['[a-z0-9.-]+:9100', '(?i)a|B', '[[:alpha:]]+', String.raw`\pL.*`, '(?P<a>x)', ''])(
    'in a matcher is not validated: %s',
    (value) => expect(read(matcher, `a=~${value}`)).toEqual({ name: 'a', op: '=~', value }),
  );

  it.each([
    'eth[0-9-]+',
    'a[:.]b[(?=]',
    'eth0|',
    '[a-z0-9.-]+',
    '(?i:veth).*',
    String.raw`bond\d+\.\d+`,
    String.raw`[\w.&&-]+`,
    String.raw`a\(?=`,
    String.raw`\[\]`,
    String.raw`a\\b`,
    '(?<name>a)|(b{1,3}?)',
  ])('of devices is accepted: %s', (pattern) => {
    expect(read(regExp, pattern)).toBe(pattern);
    checkQuery({ windowSeconds: 20, matchers: [], excludedDevices: pattern });
  });

  it.each([
    ['JavaScript', '(?i)veth.*'],
    ['JavaScript', '(?P<a>x)'],
    ['JavaScript', 'a**'],
    ['both', '('],
    ['RE2', 'a(?=b)'],
    ['RE2', '(?<!a)b'],
    ['RE2', String.raw`(a)\1`],
    ['RE2', String.raw`a\u0041`],
    ['RE2', '[]'],
    ['RE2', 'a[^]b'],
    ['JavaScript, which reads it differently', String.raw`\Aeth`],
    ['JavaScript, which reads it differently', '[[:alpha:]]+'],
    ['both, because it is empty', ''],
  ])('of devices is invalid in %s: %s', (_who, pattern) => expect(read(regExp, pattern)).toBeUndefined());
});
