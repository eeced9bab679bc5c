import { describe, expect, it } from 'vitest';
import type { PeerResult } from '../../protocol/measurement.ts';
import { familyOf, flawedFamily, over, withAddress, type Rating } from './families.ts';

const LOSS_PERCENT = 5;

function peer(address: string, received: number, ok = received > 0): PeerResult {
  const tcp = ok ? { ok, ms: 1 } : ({ ok, error: 'Timeout' } as const);
  return { node: 'b', address, tcp, udp: { sent: 20, received } };
}

const [V4, V6] = ['198.18.0.2', 'fd00::2'];
const WORKS: Rating = { quality: 'Ok', worst: peer(V4, 20), sent: 20, lost: 0, refused: false };
const FAILS: Rating = { quality: 'Failed', worst: peer(V4, 0), sent: 20, lost: 20, refused: false };

describe('withAddress', () => {
  it.each([
    ['both families work', WORKS, peer(V6, 20), { quality: 'Ok', sent: 40, lost: 0 }],
    ['one fails: its datagrams are no loss', WORKS, peer(V6, 0), { quality: 'FamilyFailed', sent: 20, lost: 0 }],
    ['the first one fails', FAILS, peer(V6, 19), { quality: 'FamilyFailed', sent: 20, lost: 1 }],
    ['both fail', FAILS, peer(V6, 0), { quality: 'Failed', sent: 40, lost: 40 }],
    ['one loses packets', WORKS, peer(V6, 10), { quality: 'Lossy', sent: 40, lost: 10 }],
    [
      'a second address of the same family fails',
      WORKS,
      peer('198.18.0.3', 0),
      { quality: 'Failed', sent: 40, lost: 20 },
    ],
  ] as const)('%s', (_, known, added, rating) => {
    expect(withAddress(known, added, LOSS_PERCENT)).toMatchObject(rating);
  });

  it('takes the worst of two addresses of a family if there is another family', () => {
    const both = withAddress(withAddress(WORKS, peer(V6, 20), LOSS_PERCENT), peer('fd00::3', 0), LOSS_PERCENT);
    expect(both).toMatchObject({ quality: 'FamilyFailed', sent: 20, lost: 0, worst: { address: 'fd00::3' } });
    expect(both.families?.map(({ family }) => family)).toEqual(['IPv6', 'IPv4']);
    expect(over('IPv6', both)).toMatchObject({ quality: 'Failed', sent: 40, lost: 20 });
  });
});

it('names a family with a flaw only if another family has none', () => {
  const dual = withAddress(WORKS, peer(V6, 10), LOSS_PERCENT);
  expect([flawedFamily(dual), flawedFamily(withAddress(WORKS, peer(V6, 20), LOSS_PERCENT))]).toEqual([
    'IPv6',
    undefined,
  ]);
  expect(flawedFamily(withAddress(WORKS, peer('198.18.0.3', 10), LOSS_PERCENT))).toBeUndefined();
  expect(flawedFamily(withAddress({ ...FAILS }, peer(V6, 10), LOSS_PERCENT))).toBeUndefined();
});

it.each([
  ['198.18.0.2', 'IPv4'],
  ['198.18.0.10:53', 'IPv4'],
  ['fd00::2', 'IPv6'],
  ['[fd00::10]:53', 'IPv6'],
] as const)('%s is of %s', (address, family) => {
  expect(familyOf(address)).toBe(family);
});
