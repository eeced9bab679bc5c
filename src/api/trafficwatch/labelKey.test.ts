import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLabelKey, isOfPKopel, labelKeyOf, namespaceOfKey, nativeKeyOf } from './labelKey.ts';
import type { TrafficWatch, TrafficWatchStatus } from './schema.ts';

const SUFFIX = '.traffic.example.com/unfit';

function watch(changes: { label?: string; name?: string; namespace?: string; status?: object } = {}): TrafficWatch {
  const { label, name = 'web', namespace = 'shop', status } = changes;
  return {
    metadata: { name, namespace },
    spec: { maxBandwidthPercent: '60', ...(label === undefined ? {} : { label }) },
    ...(status === undefined ? {} : { status }),
  };
}

const prefixOf = (name: string, namespace: string): string => nativeKeyOf(watch({ name, namespace })).split(SUFFIX)[0]!;

describe('nativeKeyOf', () => {
  it('has the label, or else the name, and the namespace', () => {
    expect(nativeKeyOf(watch({ label: 'checkout' }))).toBe(`checkout.shop${SUFFIX}`);
    for (const label of ['', undefined]) expect(nativeKeyOf(watch({ label }))).toBe(`web.shop${SUFFIX}`);
  });

  it.each([
    ['39 characters', 'a'.repeat(34), 'shop', `${'a'.repeat(34)}.shop`],
    ['40 characters', 'a'.repeat(35), 'shop', `${'a'.repeat(23)}-nah933ai2j9f1a1e`],
    ['a long namespace', 'web', 'n'.repeat(63), `web.${'n'.repeat(19)}-vekli535osee117f`],
    ['a dot where it is cut', `${'a'.repeat(22)}.b`, 'n'.repeat(20), `${'a'.repeat(22)}-0n7hfqmorci4tva4h`],
    ['dashes where it is cut', `${'a'.repeat(20)}---b`, 'n'.repeat(20), `${'a'.repeat(20)}-9jahud0n6051estqdnc`],
  ])('with %s has the expected prefix', (_length, name, namespace, prefix) => {
    expect(prefixOf(name, namespace)).toBe(prefix);
  });

  it.each([
    ['a short one', nativeKeyOf(watch({ label: 'a.b' })), 'shop'],
    ['one with a hash', nativeKeyOf(watch({ name: 'a'.repeat(30), namespace: 'n.'.padEnd(12, 'n') })), ''],
    ['one without a namespace', `web${SUFFIX}`, ''],
    ['another key', 'a.b/c', ''],
  ])('names its namespace: %s', (_what, key, namespace) => expect(namespaceOfKey(key)).toBe(namespace));

  const letters = 'ab0'.split('');
  const part = (maxLength: number) =>
    fc
      .tuple(fc.constantFrom(...letters), fc.stringMatching(/^[ab0-]*$/, { maxLength: maxLength - 2 }))
      .map(([first, rest]) => `${first}${rest}0`.slice(0, maxLength));
  const namespaces = fc.oneof(part(3), part(63));
  const labels = fc.array(fc.oneof(part(3), part(30), part(63)), { minLength: 1, maxLength: 4 }).map((parts) =>
    parts
      .join('.')
      .slice(0, 233)
      .replace(/[-.]+$/, ''),
  );
  const pairs = fc.tuple(labels, namespaces);

  it('is a valid label key with a prefix of at most 40 characters', () => {
    fc.assert(
      fc.property(pairs, ([label, namespace]) => {
        const key = nativeKeyOf(watch({ label, namespace }));
        expect(isLabelKey(key)).toBe(true);
        expect(key.length - SUFFIX.length).toBeLessThanOrEqual(40);
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  it('is different for each pair of label and namespace', () => {
    const moved = pairs.chain(([label, namespace]) => {
      const parts = `${label}.${namespace}`.split('.');
      // The same text with the border at another dot, or at none, is the nearest that another namespace has.
      const borders = parts
        .slice(1)
        .map((_, n): [string, string] => [parts.slice(0, n + 1).join('.'), parts.slice(n + 1).join('-')]);
      const other = fc.oneof(pairs, fc.constantFrom(...borders), fc.constant([`${label}.${namespace}`, namespace]));
      return fc.tuple(fc.constant([label, namespace]), other);
    });
    fc.assert(
      fc.property(moved, ([[label, namespace], [otherLabel, otherNamespace]]) => {
        fc.pre(label !== otherLabel || namespace !== otherNamespace);
        const other = nativeKeyOf(watch({ label: otherLabel, namespace: otherNamespace }));
        expect(nativeKeyOf(watch({ label, namespace }))).not.toBe(other);
      }),
      { numRuns: 1_000, seed: 1 },
    );
  });
});

describe('labelKeyOf', () => {
  const nodes = { n1: { unfit: true } };
  const LEGACY = `checkout${SUFFIX}`;
  const NATIVE = `checkout.shop${SUFFIX}`;

  it.each<[string, object | undefined, string]>([
    ['a new object', undefined, NATIVE],
    ['the legacy key in use', { labelKey: LEGACY, mode: 'Enforce', nodes }, LEGACY],
    ['the legacy key in use, and a status of an earlier version', { labelKey: LEGACY, nodes }, LEGACY],
    ['the native key in use', { labelKey: NATIVE, mode: 'Enforce', nodes }, NATIVE],
    ['another key in use: the label has changed', { labelKey: `old${SUFFIX}`, mode: 'Enforce', nodes }, NATIVE],
    ['no key in use with mode Observe, which labels no node', { mode: 'Observe', nodes }, NATIVE],
    ['no key in use while it is stalled', { ready: false, mode: 'Enforce' }, NATIVE],
    ['a status of PKopel/traffic-operator', { ready: true, nodes }, LEGACY],
    ['nodes of another shape', { nodes: null }, NATIVE],
  ])('with %s', (_what, status, key) => {
    expect(labelKeyOf(watch({ label: 'checkout', status }))).toBe(key);
  });

  it('is not a legacy key that is too long for a node', () => {
    const name = 'n'.repeat(234);
    expect(isLabelKey(labelKeyOf(watch({ name, status: { ready: true, nodes } })))).toBe(true);
    expect(labelKeyOf(watch({ name: 'n'.repeat(233), status: { nodes } }))).toBe(`${'n'.repeat(233)}${SUFFIX}`);
  });

  it.each(['x', 7, [], null])('reads a status of any shape: %j', (status) => {
    expect(isOfPKopel({ status: status as unknown as TrafficWatchStatus })).toBe(false);
  });
});
