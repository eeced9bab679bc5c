import type { V1Affinity, V1NodeSelectorTerm } from '@kubernetes/client-node';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KEY } from '../testing/observations.ts';
import {
  fitRequirement,
  keepsOffUnfit,
  placementKeys,
  schedulesBy,
  withFitNodesOnly,
  withFitNodesPreferred,
} from './affinity.ts';

const required = (nodeSelectorTerms: V1NodeSelectorTerm[]): V1Affinity => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
});
const termsOf = (a: V1Affinity) =>
  a.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
const disk = { key: 'disk', operator: 'In', values: ['ssd'] };
const OURS = fitRequirement(KEY);

/** Whether a node matches by the scheduler's rules: terms are ORed, expressions ANDed, an empty term never matches. */
function matches(affinity: V1Affinity, labels: Record<string, string>): boolean {
  return termsOf(affinity).some((term) => {
    const expressions = term.matchExpressions ?? [];
    if (expressions.length === 0) return false;
    return expressions.every(({ key, operator, values = [] }) => {
      const present = Object.hasOwn(labels, key);
      const among = present && values.includes(labels[key]!);
      return operator === 'In' ? among : operator === 'NotIn' ? !among : operator === 'Exists' ? present : !present;
    });
  });
}

describe('withFitNodesOnly', () => {
  it('adds the only term if the user has none', () => {
    expect(termsOf(withFitNodesOnly(undefined, KEY))).toEqual([{ matchExpressions: [OURS] }]);
  });

  it('adds the requirement to every term of the user, because terms are ORed', () => {
    const user = required([{ matchExpressions: [disk] }, { matchFields: [disk] }]);
    expect(termsOf(withFitNodesOnly(user, KEY))).toEqual([
      { matchExpressions: [disk, OURS] },
      { matchFields: [disk], matchExpressions: [OURS] },
    ]);
  });

  it('leaves an empty term, which matches no node, as it is', () => {
    expect(termsOf(withFitNodesOnly(required([{}, { matchExpressions: [] }]), KEY))).toEqual([
      {},
      { matchExpressions: [] },
    ]);
  });

  it('keeps the rest of the affinity', () => {
    const preferred = [{ weight: 1, preference: { matchExpressions: [disk] } }];
    const user = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred }, podAntiAffinity: {} };
    expect(withFitNodesOnly(user, KEY)).toMatchObject(user);
  });

  const expression = fc.oneof(
    fc.record({
      key: fc.constantFrom('a', 'b'),
      operator: fc.constantFrom('In', 'NotIn'),
      values: fc.array(fc.constantFrom('x', 'y'), { minLength: 1 }),
    }),
    fc.record({ key: fc.constantFrom('a', 'b'), operator: fc.constantFrom('Exists', 'DoesNotExist') }),
  );
  const affinity = fc
    .array(fc.record({ matchExpressions: fc.array(expression, { maxLength: 3 }) }, { requiredKeys: [] }), {
      minLength: 1,
      maxLength: 4,
    })
    .map(required);
  const labels = fc.dictionary(fc.constantFrom('a', 'b', KEY), fc.constantFrom('x', 'y', 'true', 'false'));

  it("matches a node exactly if the user's affinity matches and the node is not unfit", () => {
    fc.assert(
      fc.property(affinity, labels, (user, node) => {
        expect(matches(withFitNodesOnly(user, KEY), node)).toBe(matches(user, node) && node[KEY] !== 'true');
      }),
    );
  });

  it('changes nothing the second time, and does not change its input', () => {
    fc.assert(
      fc.property(affinity, (user) => {
        const before = structuredClone(user);
        const once = withFitNodesOnly(user, KEY);
        expect(withFitNodesOnly(once, KEY)).toEqual(once);
        expect(user).toEqual(before);
        expect(keepsOffUnfit(once, KEY)).toBe(true);
      }),
    );
  });
});

describe('keepsOffUnfit', () => {
  it('is false if any term matches unfit nodes', () => {
    expect(keepsOffUnfit(required([{ matchExpressions: [OURS] }, { matchExpressions: [disk] }]), KEY)).toBe(false);
    expect(keepsOffUnfit(undefined, KEY)).toBe(false);
    expect(
      keepsOffUnfit(required([{ matchExpressions: [fitRequirement('old.traffic.example.com/unfit')] }]), KEY),
    ).toBe(false);
  });
});

describe('withFitNodesPreferred', () => {
  const preferredOf = (a: V1Affinity) => a.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
  const TERM = { weight: 100, preference: { matchExpressions: [OURS] } };

  it('adds one term of weight 100 and requires nothing', () => {
    expect(withFitNodesPreferred(undefined, KEY)).toEqual({
      nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [TERM] },
    });
  });

  it("keeps the user's preferred terms, the required terms and the rest", () => {
    const theirs = { weight: 1, preference: { matchExpressions: [disk] } };
    const user: V1Affinity = {
      nodeAffinity: {
        ...required([{ matchExpressions: [disk] }]).nodeAffinity,
        preferredDuringSchedulingIgnoredDuringExecution: [theirs],
      },
      podAntiAffinity: {},
    };
    const before = structuredClone(user);
    const affinity = withFitNodesPreferred(user, KEY);
    expect(preferredOf(affinity)).toEqual([theirs, TERM]);
    expect(termsOf(affinity)).toEqual([{ matchExpressions: [disk] }]);
    expect(affinity.podAntiAffinity).toEqual({});
    expect(user).toEqual(before);
  });

  it('adds the term only once', () => {
    const once = withFitNodesPreferred(undefined, KEY);
    expect(withFitNodesPreferred(once, KEY)).toEqual(once);
  });
});

describe('placementKeys', () => {
  it('are the keys of required and preferred terms', () => {
    const OLD = 'old.traffic.example.com/unfit';
    expect(placementKeys(withFitNodesPreferred(undefined, KEY))).toEqual([KEY]);
    expect(placementKeys(withFitNodesPreferred(withFitNodesOnly(undefined, OLD), KEY))).toEqual([OLD, KEY]);
    expect(placementKeys(withFitNodesPreferred(withFitNodesOnly(undefined, KEY), KEY))).toEqual([KEY]);
    expect(placementKeys(undefined)).toEqual([]);
  });
});

describe('schedulesBy', () => {
  const OLD = 'old.traffic.example.com/unfit';

  it('checks required terms for Required and preferred terms for Preferred', () => {
    expect(schedulesBy(withFitNodesOnly(undefined, KEY), KEY, 'Required')).toBe(true);
    expect(schedulesBy(withFitNodesPreferred(undefined, KEY), KEY, 'Preferred')).toBe(true);
    expect(schedulesBy(withFitNodesOnly(undefined, KEY), KEY, 'Preferred')).toBe(false);
    expect(schedulesBy(withFitNodesPreferred(undefined, KEY), KEY, 'Required')).toBe(false);
    expect(schedulesBy(withFitNodesPreferred(undefined, OLD), KEY, 'Preferred')).toBe(false);
    expect(schedulesBy(undefined, KEY, 'Preferred')).toBe(false);
  });
});
