import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import type { Measurement, PeerResult, Target } from '../../protocol/measurement.ts';
import { Compactor, Measurements } from './measurements.ts';

const MEASUREMENT = { plane: 'Pod', port: 8_082, peers: [], targets: [], heard: {} } as const;
const REPORT = { podname: 'a', nodename: 'n1', report_interval: 15 };

it.each([
  ['of the same node within two intervals', 'n1', 30_000, true],
  ['before a gap', 'n1', 30_001, false],
  ['of another node', 'n2', 30_000, false],
])('a measurement %s is the one before: %s %i %s', async (_, nodename, afterMs, isBefore) => {
  const clock = new FakeClock();
  const measurements = new Measurements(clock);
  measurements.accept({ ...REPORT, nodename }, MEASUREMENT);
  await clock.advance(afterMs);
  measurements.accept(REPORT, MEASUREMENT);
  expect(measurements.get('a')?.times.before !== undefined).toBe(isBefore);
});

describe('the measurement before', () => {
  const peer = (node: string, address = '198.18.0.1'): PeerResult => ({
    ...{ node, address, tcp: { ok: true }, udp: { sent: 20, received: 20 } },
  });
  const measurement = (peers: readonly PeerResult[], targets: readonly Target[] = []): Measurement => ({
    ...{ ...MEASUREMENT, peers },
    targets: targets.map((target) => ({ target, address: '198.18.1.10:53', ok: true })),
  });
  const beforeOf = async (...all: readonly Measurement[]) => {
    const clock = new FakeClock();
    const measurements = new Measurements(clock);
    for (const one of all) {
      measurements.accept(REPORT, one);
      await clock.advance(15_000);
    }
    return measurements.get('a')?.times.before;
  };

  it('names the peers and targets that only the last one probed, each once', async () => {
    const last = [peer('b'), peer('c', '198.18.0.3'), peer('c', '2001:db8::3')];
    const before = await beforeOf(measurement([peer('b'), peer('d')], ['APIServer']), measurement(last, ['DNSUDP']));
    expect(before).toMatchObject({ peers: [], targets: [], unprobed: ['c'], unasked: ['DNSUDP'] });
  });

  it('takes no memory for names while the peers stay the same: the empty lists are shared', async () => {
    const same = measurement([peer('b')], ['DNSUDP']);
    const [one, other] = [await beforeOf(same, same), await beforeOf(same, same, same)];
    expect([one?.unprobed, one?.unasked]).toEqual([[], []]);
    expect(one?.unprobed).toBe(other?.unprobed);
    expect(one?.unasked).toBe(other?.unasked);
  });
});

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
