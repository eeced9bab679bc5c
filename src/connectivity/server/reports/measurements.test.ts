import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import type { Measurement, PeerResult, Target } from '../../protocol/measurement.ts';
import { Measurements } from './measurements.ts';

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
