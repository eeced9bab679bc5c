import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyMergePatch, diffMergePatch, isEqual } from './mergePatch.ts';

describe('diffMergePatch', () => {
  it.each([
    ['equal objects need no patch', { a: { b: 1 } }, { a: { b: 1 } }, undefined],
    ['the order of keys does not matter', { a: 1, b: 2 }, { b: 2, a: 1 }, undefined],
    ['a new key is set', { a: 1 }, { a: 1, b: 2 }, { b: 2 }],
    ['a changed key is set and the rest left out', { a: 1, b: 1 }, { a: 1, b: 2 }, { b: 2 }],
    ['a removed key becomes null', { a: 1, b: 2 }, { a: 1 }, { b: null }],
    ['undefined counts as absent', { a: 1, b: 2 }, { a: 1, b: undefined }, { b: null }],
    ['a list is replaced whole', { a: [1, 2] }, { a: [1] }, { a: [1] }],
    ['an emptied object stays an object', { a: { b: 1 } }, { a: {} }, { a: { b: null } }],
    ['a scalar becomes an object', { a: 1 }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['an object becomes a scalar', { a: { b: 1 } }, { a: 1 }, { a: 1 }],
    ['an existing null is removed', { a: null, b: 1 }, { b: 1 }, { a: null }],
  ])('%s', (_why, current, desired, patch) => {
    expect(diffMergePatch(current, desired)).toEqual(patch);
  });

  it('turns any object into any other', () => {
    fc.assert(
      fc.property(json(), json(), (current, desired) => {
        const patch = diffMergePatch(current, desired);
        const result = patch === undefined ? current : applyMergePatch(current, patch);
        expect(isEqual(result, desired)).toBe(true);
      }),
    );
  });

  it('is undefined if and only if the objects are equal', () => {
    fc.assert(
      fc.property(json(), json(), (a, b) => {
        expect(diffMergePatch(a, b) === undefined).toBe(isEqual(a, b));
        expect(diffMergePatch(a, structuredClone(a))).toBeUndefined();
      }),
    );
  });
});

describe('applyMergePatch', () => {
  // The table of RFC 7386, appendix A.
  it.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('%s patched with %s is %s', (target, patch, result) => {
    expect(applyMergePatch(JSON.parse(target), JSON.parse(patch))).toEqual(JSON.parse(result));
  });
});

/** JSON objects whose keys collide often, without null in objects, which no merge patch can express. */
function json(): fc.Arbitrary<unknown> {
  const key = fc.constantFrom('a', 'b', 'c', 'traffic.example.com/unfit', 'toString');
  const object = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.dictionary(key, value, { maxKeys: 4 });
  const leaf = fc.oneof(scalar(), fc.array(fc.oneof(scalar(), fc.constant(null), object(scalar())), { maxLength: 2 }));
  const branch = fc.oneof(leaf, object(leaf));
  return object(fc.oneof(branch, object(branch)));
}

function scalar(): fc.Arbitrary<unknown> {
  return fc.oneof(fc.integer({ min: 0, max: 3 }), fc.boolean(), fc.constantFrom('', 'true', 'x'));
}
