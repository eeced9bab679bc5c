import { describe, expect, it } from 'vitest';
import type { PeerResult } from '../../protocol/measurement.ts';
import { familyOf, flawedFamily, over, qualityOf, withAddress, type Rating } from './quality.ts';

function peer(changes: Partial<PeerResult>): PeerResult {
  return { node: 'b', address: '198.18.0.2', tcp: { ok: true, ms: 1 }, udp: { sent: 20, received: 20 }, ...changes };
}

const TIMEOUT = { ok: false, error: 'Timeout' } as const;
const REFUSED = { ok: false, error: 'Refused' } as const;

describe('qualityOf', () => {
  it.each([
    ['all works', {}, 'Ok'],
    ['nothing is echoed', { tcp: TIMEOUT, udp: { sent: 20, received: 0 } }, 'Failed'],
    ['UDP alone is blocked', { udp: { sent: 20, received: 0 } }, 'Failed'],
    ['TCP alone is blocked', { tcp: TIMEOUT }, 'Failed'],
    ['no datagram could be sent', { tcp: TIMEOUT, udp: { sent: 0, received: 0, error: 'Unreachable' } }, 'Failed'],
    ['the peer refuses: its network works', { tcp: REFUSED, udp: { sent: 20, received: 0, error: 'Refused' } }, 'Ok'],
    ['the peer refuses TCP: its network works', { tcp: REFUSED, udp: { sent: 20, received: 0 } }, 'Ok'],
    ['one datagram of 20 is lost', { udp: { sent: 20, received: 19 } }, 'Ok'],
    ['two of 20 are lost', { udp: { sent: 20, received: 18 } }, 'Lossy'],
    ['two of 100 are lost, below the threshold', { udp: { sent: 100, received: 98 } }, 'Ok'],
    ['TCP times out, and some packets pass: that is loss', { tcp: TIMEOUT, udp: { sent: 20, received: 8 } }, 'Lossy'],
    ['large packets vanish', { mtu: { interface: 1500, largest: 1400 } }, 'Mtu'],
    [
      'large packets vanish, and small ones are lost',
      { udp: { sent: 20, received: 12 }, mtu: { interface: 1500, largest: 1400 } },
      'Lossy',
    ],
    ['round trips take long', { udp: { sent: 20, received: 20, ms: 950 } }, 'Slow'],
    [
      'a request takes too long, since round trips do',
      { tcp: TIMEOUT, udp: { sent: 20, received: 20, ms: 2_600 } },
      'Slow',
    ],
    [
      'TCP alone is blocked, and datagrams are slow',
      { tcp: TIMEOUT, udp: { sent: 20, received: 20, ms: 400 } },
      'Failed',
    ],
    ['packets are slow, and lost', { udp: { sent: 20, received: 12, ms: 950 } }, 'Lossy'],
    ['round trips take a while', { udp: { sent: 20, received: 20, ms: 299 } }, 'Ok'],
    ['all sizes pass', { mtu: { interface: 1500, largest: 1500 } }, 'Ok'],
  ] as const)('%s', (_, changes, quality) => {
    expect(qualityOf(peer(changes), { lossPercent: 5, slowMs: 300 })).toBe(quality);
  });
});

describe('address families', () => {
  const LIMITS = { lossPercent: 5 };

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
      expect(withAddress(known, added, LIMITS)).toMatchObject(rating);
    });

    it('takes the worst of two addresses of a family if there is another family', () => {
      const both = withAddress(withAddress(WORKS, peer(V6, 20), LIMITS), peer('fd00::3', 0), LIMITS);
      expect(both).toMatchObject({ quality: 'FamilyFailed', sent: 20, lost: 0, worst: { address: 'fd00::3' } });
      expect(both.families?.map(({ family }) => family)).toEqual(['IPv6', 'IPv4']);
      expect(over('IPv6', both)).toMatchObject({ quality: 'Failed', sent: 40, lost: 20 });
    });
  });

  it('names a family with a flaw only if another family has none', () => {
    const dual = withAddress(WORKS, peer(V6, 10), LIMITS);
    expect([flawedFamily(dual), flawedFamily(withAddress(WORKS, peer(V6, 20), LIMITS))]).toEqual(['IPv6', undefined]);
    expect(flawedFamily(withAddress(WORKS, peer('198.18.0.3', 10), LIMITS))).toBeUndefined();
    expect(flawedFamily(withAddress({ ...FAILS }, peer(V6, 10), LIMITS))).toBeUndefined();
  });

  it.each([
    ['198.18.0.2', 'IPv4'],
    ['198.18.0.10:53', 'IPv4'],
    ['fd00::2', 'IPv6'],
    ['[fd00::10]:53', 'IPv6'],
  ] as const)('%s is of %s', (address, family) => {
    expect(familyOf(address)).toBe(family);
  });
});
