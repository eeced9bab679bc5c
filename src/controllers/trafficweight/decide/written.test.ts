import { expect, it } from 'vitest';
import type { Outcome } from './outcome.ts';
import { appliedState, removalState } from './written.ts';

const WAITS = {
  ...{ hosts: ['a', 'b'], of: 3, confirm: '1f0c3d5e', namespaces: new Map([['shop', '1f0c3d5e']]) },
  holdsWeight: true,
};
const MESSAGE =
  '2 of 3 hosts would lose their records, since nothing selects them any longer: a, b. They keep them. Correct the spec, the classes or the ' +
  'labels, or confirm it with spec.allowRemoval: "1f0c3d5e"';
const ALL = 'All DNSEndpoints carry the weight 40 of the cluster: 1.';

const applied = (over: Partial<Outcome>): string => {
  const endpoints = new Map([['shop/a', undefined]]);
  return appliedState({ endpoints, failures: [], step: { weight: 40 }, ...over } as Outcome).message;
};

it('names the hosts whose removal waits, and how to confirm it', () => {
  expect([removalState(WAITS).message, applied({ unconfirmed: WAITS })]).toEqual([MESSAGE, MESSAGE]);
  const namespaces = new Map([
    ['shop', '2'],
    ['team', '3'],
  ]);
  expect(removalState({ ...WAITS, namespaces }).message).toContain(
    'confirm it with spec.allowRemoval: "1f0c3d5e"; or single namespaces with their values: shop: "2", team: "3"',
  );
});

it.each<[string, Partial<Outcome>, string]>([
  [
    'whose removal waits',
    { unconfirmed: { ...WAITS, holdsWeight: false } },
    'Not counted: 2 hosts of the namespaces shop, with at most this weight. See RemovalsConfirmed.',
  ],
  [
    'without their Ingress',
    { orphans: ['shop/left'] },
    'Without an Ingress or HTTPRoute, and with the weight 0: shop/left. Delete them',
  ],
])('names what is not counted: DNSEndpoints %s', (_, over, note) => {
  expect(applied(over)).toBe(`${ALL} ${note}`);
});
