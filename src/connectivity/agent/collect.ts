import { networkInterfaces, uptime } from 'node:os';
import type { ProbeResult, Report } from '../../api/agent/report.ts';
import type { Measurement } from '../protocol/measurement.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { NameLookup } from '../../runtime/process/nameLookup.ts';

/** The data about itself that an agent puts into each report. */
export interface AgentIdentity {
  readonly podName: string;
  /** '' if the pod does not know its node. */
  readonly nodeName: string;
  readonly intervalSeconds: number;
  /** Number of zeros in the field `zero_extender`. */
  readonly zeros: number;
  /** Host of the server, for the name lookup. */
  readonly serverHost: string;
}

/** A report as the original agent sends it. */
export type OriginalReport = Report & { zero_extender: readonly number[] };

/** A report as it is sent. The original server ignores fields that it does not know. */
export type SentReport = OriginalReport & { readonly connectivity: Measurement };

/** Collects a report of this node. @param addresses of the server; null if the lookup failed */
export function collectReport(
  identity: AgentIdentity,
  addresses: string[] | null,
  probes: readonly ProbeResult[],
  clock: Clock,
): OriginalReport {
  return {
    report_interval: identity.intervalSeconds,
    nodename: identity.nodeName,
    podname: identity.podName,
    hostdate: new Date(clock.now()).toISOString(),
    uptime: Math.floor(uptime()),
    nslookup: { [identity.serverHost]: addresses },
    ips: interfaceAddresses(),
    network_probes: [...probes],
    zero_extender: new Array<number>(identity.zeros).fill(0),
  };
}

/** Looks up the addresses of a host. Never rejects: null if there is no answer within `waitMs`. */
export async function addressesOf(host: string, names: NameLookup, waitMs: number): Promise<string[] | null> {
  try {
    return (await names.addresses(host, waitMs)).map(({ address }) => address);
  } catch {
    return null;
  }
}

function interfaceAddresses(): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(networkInterfaces()).map(([name, addresses = []]) => [
      name,
      addresses.map(({ address, cidr }) => cidr ?? address),
    ]),
  );
}
