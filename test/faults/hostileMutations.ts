import * as fc from 'fast-check';
import { unfitKey } from '../harness/unfitKey.ts';

/** One odd part: where it goes in a TrafficWatch (a path from its root), and what is there. */
export interface Mutation {
  readonly path: readonly (string | number)[];
  /** As JSON, but for `raw` numbers; absent: the part is taken out. */
  readonly value?: unknown;
}

const SPEC = ['spec'];
const DEPLOYMENT = [...SPEC, 'deployment'];
const TEMPLATE = [...DEPLOYMENT, 'template'];
const POD = [...TEMPLATE, 'spec'];
const CONTAINER = [...POD, 'containers', 0];
const AFFINITY = [...POD, 'affinity'];
const TERMS = [...AFFINITY, 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms'];

/** A number as it is written here, which JSON.stringify would write in another form or not at all. */
function raw(number: string): string {
  return `\u0001raw:${number}\u0001`;
}

/** An object in an object, so deep that JSON.stringify could not write it. */
function nested(depth: number): string {
  return raw(`nested${depth}`);
}

/** JSON text in which what `raw` and `nested` stand for is spelt out. */
export function spelledOut(text: string): string {
  return text.replaceAll(/"\\u0001raw:(nested)?([^"\\]*)\\u0001"/g, (_, deep: string | undefined, it: string) =>
    deep === undefined ? it : `${'{"a":'.repeat(Number(it))}1${'}'.repeat(Number(it))}`,
  );
}

/** An object with a key that assignment would take for the prototype. */
function named(key: string, value: unknown): unknown {
  return JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`);
}

/** Values for a wrong place: every type of JSON, empty and not. */
const JUNK = [null, '', 'x', 0, -1, 1.5, true, [], [null], ['x'], {}, { a: null }, [[]], [{}]];
const TEXTS = [
  '\u0000',
  '\u0007bell',
  'a\nb',
  '\u202Eright-to-left',
  '👩‍👩‍👧',
  '\uFEFF',
  'ß'.repeat(70),
  'é',
  '"}',
  '${x}',
  '../..',
  '%2e',
];
/** The message that quotes such a text cuts it in the middle of a surrogate pair. */
const PAIRS = [0, 1].map((shift) => `${'x'.repeat(shift)}${'👩'.repeat(200)}`);
const NUMBERS = ['1e2', '1e-7', '1e400', '-1', '-0', '0', '2147483648', '9223372036854775808', '1.0', '1E+2'];

const junk = fc.constantFrom(...JUNK);
const text = fc.oneof(fc.constantFrom(...TEXTS, ...PAIRS), fc.string({ unit: 'binary', maxLength: 40 }));
const number = fc.constantFrom(...NUMBERS.map(raw));
const anything = fc.oneof(junk, text, number);
const subdomain = (length: number): string => 'a.'.repeat(length).slice(0, length).replace(/\.$/, 'b');

const requirement = fc.record(
  {
    key: fc.oneof(fc.constantFrom('zone', unfitKey('nearby'), 'a'.repeat(317)), anything),
    operator: fc.oneof(fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Near'), anything),
    values: fc.oneof(fc.array(fc.constantFrom('a', '5'), { maxLength: 3 }), anything),
  },
  { requiredKeys: [] },
);
const list = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: fc.array(fc.oneof(item, junk), { maxLength: 4 }) }, { weight: 1, arbitrary: junk });
const term = fc.record({ matchExpressions: list(requirement), matchFields: list(requirement) }, { requiredKeys: [] });

const at = (path: Mutation['path'], values: fc.Arbitrary<unknown>): fc.Arbitrary<Mutation> =>
  values.map((value) => ({ path, value }));
const without = (path: Mutation['path']): fc.Arbitrary<Mutation> => fc.constant({ path });
const among = (...paths: Mutation['path'][]): fc.Arbitrary<Mutation['path']> => fc.constantFrom(...paths);

const many = (count: number, item: (index: number) => unknown): unknown[] =>
  Array.from({ length: count }, (_, i) => item(i));
const expression = (values: readonly string[]) => ({ key: 'zone', operator: 'In', values });

/** From what a large team may have to what etcd (1.5 MiB a request) cannot store. */
const huge: fc.Arbitrary<Mutation> = fc.oneof(
  at(
    TERMS,
    fc.constantFrom(300, 700).map((n) => many(n, (i) => ({ matchExpressions: [expression([`z${i}`])] }))),
  ),
  at(
    [...CONTAINER, 'env'],
    fc.constantFrom(500, 3000).map((n) => many(n, (i) => ({ name: `E${i}`, value: 'v' }))),
  ),
  at(
    [...POD, 'volumes'],
    fc.constantFrom(400, 800).map((n) => many(n, (i) => ({ name: `v${i}`, emptyDir: {} }))),
  ),
  at(
    [...CONTAINER, 'args'],
    fc.constantFrom(0.3, 0.7, 1.2, 1.49, 1.6).map((mib) => ['x'.repeat(mib * 2 ** 20)]),
  ),
);

/** Every kind of oddity by its name. */
export const MUTATIONS: Readonly<Record<string, fc.Arbitrary<Mutation>>> = {
  threshold: at([...SPEC, 'maxBandwidthPercent'], fc.oneof(anything, fc.constantFrom(...NUMBERS, 'NaN', 'Infinity'))),
  label: at(
    [...SPEC, 'label'],
    fc.oneof(anything, fc.constantFrom(233, 234, 63, 64, 253).map(subdomain), fc.constantFrom('nearby', 'foreign-0')),
  ),
  name: at(
    ['metadata', 'name'],
    fc.oneof(text, fc.constantFrom(233, 234, 253, 254).map(subdomain), fc.constantFrom('constructor', 'A', '-a')),
  ),
  replicas: at([...DEPLOYMENT, 'replicas'], fc.oneof(number, junk)),
  seconds: at([...DEPLOYMENT, 'progressDeadlineSeconds'], number),
  missing: among(SPEC, DEPLOYMENT, TEMPLATE, POD, [...DEPLOYMENT, 'selector'], [...POD, 'containers']).chain(without),
  'something else': among(SPEC, DEPLOYMENT, TEMPLATE, POD, CONTAINER, AFFINITY, TERMS, [...POD, 'containers']).chain(
    (path) => at(path, anything),
  ),
  selector: at(
    [...DEPLOYMENT, 'selector'],
    fc.oneof(
      anything,
      fc.constantFrom({ matchLabels: { app: 'another' } }, {}, { matchLabels: {} }),
      fc.record({ matchExpressions: list(requirement) }),
    ),
  ),
  terms: at(TERMS, list(term)),
  affinity: fc.constantFrom(1, 2, 3).chain((depth) => at(TERMS.slice(0, -depth), anything)),
  strings: among([...CONTAINER, 'image'], [...CONTAINER, 'name'], [...POD, 'nodeName'], [...POD, 'hostname']).chain(
    (path) => at(path, text),
  ),
  'label of pods': text.map((key) => ({ path: [...TEMPLATE, 'metadata', 'labels'], value: named(key, key) })),
  prototype: fc
    .tuple(
      among([], SPEC, DEPLOYMENT, TEMPLATE, POD, [...TEMPLATE, 'metadata', 'annotations']),
      fc.constantFrom('__proto__', 'constructor', 'toString'),
      fc.constantFrom<unknown>({ containers: [], length: 1 }, 'x', null),
    )
    .map(([path, key, value]) => ({ path: [...path, key], value })),
  'unknown field': among([], SPEC, DEPLOYMENT, TEMPLATE, POD, CONTAINER).chain((path) =>
    at([...path, 'extra'], anything),
  ),
  'twice the same': fc.constantFrom('env', 'ports').map((field) => ({
    path: [...CONTAINER, field],
    value: many(2, () => ({ name: 'same', containerPort: 80 })),
  })),
  depth: fc
    .tuple(among(SPEC, DEPLOYMENT, POD), fc.constantFrom(50, 500, 1_000, 11_000))
    .map(([path, depth]) => ({ path: [...path, 'extra'], value: nested(depth) })),
  huge,
};

/** A status that nobody but the operator should have written. */
export const oddStatus: fc.Arbitrary<unknown> = fc.oneof(
  anything,
  fc.record(
    {
      ready: anything,
      labelKey: fc.oneof(anything, fc.constantFrom('kubernetes.io/hostname', unfitKey('nearby'))),
      observedGeneration: anything,
      fitNodes: anything,
      unfitNodes: anything,
      conditions: list(fc.record({ type: fc.oneof(fc.constant('Ready'), anything), status: anything })),
      nodes: fc.oneof(
        anything,
        fc.record({ n1: fc.oneof(anything, fc.record({ since: anything, verdict: anything })) }),
      ),
    },
    { requiredKeys: [] },
  ),
);
