import { describe, expect, it } from 'vitest';
import type { PeerResult } from '../../protocol/measurement.ts';
import type { Pair } from '../pairs/pair.ts';
import { recoveredAt, works } from './confirmed.ts';

const worst: PeerResult = { node: 'b', address: '198.18.0.2', tcp: { ok: true }, udp: { sent: 20, received: 20 } };
const [BEFORE, LAST] = [10_000, 25_000];

/** It was Failed before, and is not Ok yet unless changed. */
function pair(changes: Partial<Pair>): Pair {
  const rating = { worst, quality: 'FamilyFailed', sent: 20, lost: 0, refused: false } as const;
  const times = { since: BEFORE, failedSince: LAST, last: LAST, isFirst: false };
  return { from: 'a', to: 'b', plane: 'Pod', ...rating, ...times, ...changes };
}

it.each([
  ['Ok', true, true],
  ['Mtu', true, false],
  ['Lossy', true, false],
  ['FamilyFailed', true, false],
  ['Failed', false, false],
] as const)('a pair that is %s', (quality, unlessFailed, otherwise) => {
  expect(works('Failed', pair({ quality }))).toBe(unlessFailed);
  for (const kind of ['FamilyFailed', 'Lossy', 'Mtu'] as const) expect(works(kind, pair({ quality }))).toBe(otherwise);
});

describe('a pair has recovered from a fault of the kind Failed', () => {
  it.each<[string, Partial<Pair>, number | undefined]>([
    ['if it works over one family again', {}, LAST],
    ['if it is Ok', { quality: 'Ok', since: LAST }, LAST],
    ['not if it loses packets: by chance, some of them pass', { quality: 'Lossy' }, undefined],
    ['not if it worked before', { failedSince: BEFORE }, undefined],
    ['not if it is new in the rotation', { isFirst: true }, undefined],
    ['not if it fails', { quality: 'Failed' }, undefined],
  ])('%s', (_, changes, wanted) => {
    expect(recoveredAt('Failed', pair(changes))).toBe(wanted);
  });

  it('and from another kind, only if it is Ok', () => {
    expect([recoveredAt('Mtu', pair({})), recoveredAt('Mtu', pair({ quality: 'Ok', since: LAST }))]).toEqual([
      undefined,
      LAST,
    ]);
  });
});
