import type { CheckSettings } from '../../assign/checkSettings.ts';
import type { MeasurementTimes } from '../../localise/view.ts';
import type { PeerResult, Target, TargetResult } from '../../protocol/measurement.ts';

type Probes = CheckSettings['probes'];

/** The probe that asks a target. The kubelet is asked without one: its silence is a fault of the node. */
const PROBE_OF: Readonly<Record<Target, 'dns' | 'apiServer' | undefined>> = {
  DNSUDP: 'dns',
  DNSTCP: 'dns',
  APIServer: 'apiServer',
  Kubelet: undefined,
};

interface Results {
  readonly peers: readonly PeerResult[];
  readonly targets: readonly TargetResult[];
}

/**
 * The results that a check asks for. An agent makes the probes of all checks that select its node, and what one check
 * leaves out must be no finding of it.
 *
 * @returns the same lists, if the check leaves out nothing
 */
export function ownResults({ peers, targets }: Results, probes: Probes): Results {
  const isOwn = ({ target }: TargetResult): boolean => {
    const probe = PROBE_OF[target];
    return probe === undefined || probes[probe];
  };
  return {
    peers: probes.mtu ? peers : peers.map(withoutMtu),
    targets: probes.dns && probes.apiServer ? targets : targets.filter(isOwn),
  };
}

/** The same for the measurement before. */
export function ownTimes(times: MeasurementTimes, probes: Probes): MeasurementTimes {
  const { before } = times;
  if (before === undefined || (probes.mtu && probes.dns && probes.apiServer)) return times;
  return { ...times, before: { ...before, ...ownResults(before, probes) } };
}

function withoutMtu(peer: PeerResult): PeerResult {
  if (peer.mtu === undefined) return peer;
  const { node, address, tcp, udp } = peer;
  return { node, address, tcp, udp };
}
