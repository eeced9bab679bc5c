import { describe, expect, it } from 'vitest';
import type { PeerResult } from '../../protocol/measurement.ts';
import { qualityOf } from './quality.ts';

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
    ['all sizes pass', { mtu: { interface: 1500, largest: 1500 } }, 'Ok'],
  ] as const)('%s', (_, changes, quality) => {
    expect(qualityOf(peer(changes), 5)).toBe(quality);
  });
});
