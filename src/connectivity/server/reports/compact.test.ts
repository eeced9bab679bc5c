import { describe, expect, it } from 'vitest';
import type { Measurement, PeerResult } from '../../protocol/measurement.ts';
import { Compactor } from './compact.ts';

const PEER: PeerResult = {
  node: 'n2',
  address: '198.18.0.2',
  tcp: { ok: true, ms: 0.412 },
  udp: { sent: 20, received: 19, ms: 0.377 },
  mtu: { interface: 1_500, largest: 1_400 },
};

/** As it comes: every measurement has objects and texts of its own. */
function parsed(peers: readonly PeerResult[]): Measurement {
  const measurement: Measurement = {
    plane: 'Pod',
    port: 8_082,
    peers,
    targets: [
      { target: 'DNSUDP', address: '10.0.0.10:53', ok: true, ms: 0.5 },
      { target: 'DNSTCP', address: '10.0.0.10:53', ok: false, error: 'Timeout' },
    ],
    heard: { n2: 20, n3: 0 },
  };
  return JSON.parse(JSON.stringify(measurement)) as Measurement;
}

describe('Compactor', () => {
  it.each<[string, PeerResult]>([
    ['of a peer that answers', PEER],
    ['without packet size', { node: 'n2', address: '198.18.0.2', tcp: PEER.tcp, udp: PEER.udp }],
    ['that failed', { ...PEER, tcp: { ok: false, error: 'Timeout' }, udp: { sent: 20, received: 0 } }],
    [
      'that failed after a time',
      { ...PEER, tcp: { ok: false, ms: 3, error: 'Reset' }, udp: { sent: 20, received: 1, ms: 9, error: 'Refused' } },
    ],
  ])('returns equal results %s, and the nodes that were heard', (_, peer) => {
    expect(new Compactor().compact(parsed([peer]))).toEqual({ ...parsed([peer]), heard: ['n2'] });
  });

  it('shares what is equal in two measurements, apart from results with a time', () => {
    const compactor = new Compactor();
    const failed: PeerResult = { ...PEER, tcp: { ok: false, error: 'Timeout' } };
    const [one, other] = [parsed([failed]), parsed([failed])].map((measurement) => compactor.compact(measurement));
    expect(one?.peers[0]?.tcp).toBe(other?.peers[0]?.tcp);
    expect(one?.peers[0]?.mtu).toBe(other?.peers[0]?.mtu);
    expect(one?.targets[1]).toBe(other?.targets[1]);
    expect(one?.peers[0]?.udp).not.toBe(other?.peers[0]?.udp);
  });
});
