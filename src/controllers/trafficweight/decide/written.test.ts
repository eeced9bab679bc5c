import { expect, it } from 'vitest';
import type { Outcome } from './outcome.ts';
import { appliedState, removalEvents, removalState } from './written.ts';

const WAITS = {
  ...{
    hosts: ['a', 'b'],
    of: 3,
    confirm: '1f0c3d5e',
    namespaces: new Map([['shop', { hosts: 2, confirm: '1f0c3d5e' }]]),
  },
  holdsWeight: true,
};
const MESSAGE =
  '2 of 3 hosts would lose their records, since nothing selects them any longer: a, b; namespace shop. They keep them. Correct the spec, the classes or the ' +
  'labels, or confirm it with spec.allowRemoval: "1f0c3d5e"';
const ALL = 'All DNSEndpoints carry the weight 40 of the cluster: 1.';

const applied = (over: Partial<Outcome>): string => {
  const endpoints = new Map([['shop/a', undefined]]);
  return appliedState({ endpoints, failures: [], step: { weight: 40 }, ...over } as Outcome).message;
};

it('names the hosts whose removal waits, and how to confirm it', () => {
  expect([removalState(WAITS).message, applied({ unconfirmed: WAITS })]).toEqual([MESSAGE, MESSAGE]);
  const namespaces = new Map([
    ['shop', { hosts: 1, confirm: '2' }],
    ['team', { hosts: 1, confirm: '3' }],
  ]);
  expect(removalState({ ...WAITS, namespaces }).message).toContain(
    'confirm it with spec.allowRemoval: "1f0c3d5e"; or single namespaces with their values: shop: "2", team: "3"',
  );
});

it.each<[string, Partial<Outcome>, string]>([
  [
    'whose removal waits',
    { unconfirmed: { ...WAITS, holdsWeight: false } },
    'Not counted: 2 hosts of the namespace shop, with at most this weight. See RemovalsConfirmed.',
  ],
  [
    'without their Ingress',
    { orphans: ['shop/left'] },
    'Without an Ingress or HTTPRoute, and with the weight 0: shop/left. Delete them',
  ],
])('names what is not counted: DNSEndpoints %s', (_, over, note) => {
  expect(applied(over)).toBe(`${ALL} ${note}`);
});

it('has an event for the namespaces whose removal begins to wait, whatever waits already', () => {
  const namespaces = new Map(['shop', 'team', 'tenant'].map((name) => [name, { hosts: 2, confirm: '' }]));
  const notes = (...before: string[]) =>
    removalEvents({ ...WAITS, namespaces }, { waiting: new Set(before) }).map(({ type, reason, note }) => [
      type,
      reason,
      note,
    ]);
  expect(notes('tenant')).toEqual([
    [
      'Warning',
      'RemovalNotConfirmed',
      '4 hosts of the namespaces shop, team would lose their records, and keep them until that is confirmed: see the condition RemovalsConfirmed',
    ],
  ]);
  expect([notes('shop', 'team', 'tenant'), removalEvents(undefined, { waiting: new Set() })]).toEqual([[], []]);
});
