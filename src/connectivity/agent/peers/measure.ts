import type { Assignment, PeerResult, TargetResult } from '../../protocol/measurement.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { probePeer, type PeerAddress } from './peerProbe.ts';
import { CONCURRENCY, probeSchedule } from './schedule.ts';
import type { Targets } from '../targets/targets.ts';

export interface MeasureOptions {
  readonly nodeName: string;
  readonly targets: Targets;
  readonly clock: Clock;
}

/** Probes the peers and targets of an assignment, within half of the interval. Never rejects. */
export async function measure(
  { peers, probes }: Assignment,
  intervalMs: number,
  o: MeasureOptions,
  signal: AbortSignal,
): Promise<{ peers: PeerResult[]; targets: TargetResult[] }> {
  const addresses = peers.flatMap(({ node, port, addresses: each }) =>
    each.map((address) => ({ node, address, port })),
  );
  const schedule = probeSchedule(intervalMs, addresses.length);
  const probe = (peer: PeerAddress): Promise<PeerResult> =>
    probePeer(peer, { nodeName: o.nodeName, mtu: probes.mtu, schedule, clock: o.clock, signal });
  const [peerResults, targets] = await Promise.all([
    inGroups(addresses, probe),
    o.targets.probe(probes, intervalMs / 2, signal),
  ]);
  return { peers: peerResults, targets };
}

async function inGroups(addresses: readonly PeerAddress[], probe: (peer: PeerAddress) => Promise<PeerResult>) {
  const results: PeerResult[] = [];
  for (let n = 0; n < addresses.length; n += CONCURRENCY) {
    results.push(...(await Promise.all(addresses.slice(n, n + CONCURRENCY).map(probe))));
  }
  return results;
}
