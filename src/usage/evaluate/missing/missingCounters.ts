import { isUplinkName } from '../devices/deviceKinds.ts';
import type { CountedDevice } from '../devices/devices.ts';
import { REAL_RATE, REAL_SHARE, realTraffic } from '../rateProblems.ts';
import { isUsable } from '../speeds.ts';
import { combined, type Found, type Sums } from '../sums.ts';
import type { Problem } from '../usageReason.ts';

/** Tells which devices a reading leaves out by name: see DeviceFilter. */
export interface Selection {
  selects(device: string): boolean;
}

/**
 * The problem if a NIC has no counter, so that its traffic is unknown. Then a part of an answer is missing (a store with several shards), an
 * exporter in the network of a pod reads the facts of the host, or the exporter leaves the NIC out.
 *
 * | device without a counter                                                      | result                         |
 * |-------------------------------------------------------------------------------|--------------------------------|
 * | a NIC or a bond that is switched on (see `isActiveNic`); a capacity is stated | the node is not measured       |
 * | the same, its speed is unknown                                                | the node is not measured       |
 * | the same, with at least 1 % of the speeds of the measured devices             | the node is not measured       |
 * | the same, with less                                                           | the others are measured        |
 * | a device with real traffic, the name of an uplink, and no other series        | the node is not measured, unless another device may be its bond |
 * | a slave, a virtual function, a pod interface, an excluded name                | the others are measured        |
 *
 * @param stated the stated capacity of the node, bytes per second; 0 if there is none
 * @param filter the devices of the reading; undefined if it leaves none out
 */
export function lackOfCounter(found: Found, sums: Sums, stated: number, filter?: Selection): Problem | undefined {
  const least = REAL_SHARE * sums.speed;
  const { withoutCounter } = found.facts.devices;
  const nic = withoutCounter?.find(({ speed }) => stated > 0 || !isUsable(speed) || speed >= least);
  if (nic !== undefined) return noCounter(nic);
  const capacity = stated > 0 ? stated : sums.speed;
  const name = onlyRate(found, sums, capacity > 0 ? realTraffic(capacity) : REAL_RATE, filter);
  return name === undefined ? undefined : { reason: 'StaleSamples', message: describeOnlyRate(name) };
}

/** The problem if this NIC has no counter. */
export function noCounter({ name }: Pick<CountedDevice, 'name'>): Problem {
  const message =
    `${name} is a NIC that is up, and Prometheus has no node_network_transmit_bytes_total of it: a part of the answer is missing, or node-exporter ` +
    `runs without hostNetwork, or leaves it out (--collector.netdev.device-exclude); if it must not count, exclude it: --device-exclude ` +
    '(chart: deviceExclude), or spec.devices';
  return { reason: 'StaleSamples', message };
}

function describeOnlyRate(name: string): string {
  return (
    `${name} has traffic, and Prometheus has no counter of it: it is new or was removed, or a part of the answer is missing; if this lasts longer ` +
    `than the rate window, look at the series of ${name} in Prometheus, or exclude it: spec.devices`
  );
}

/** The first device by name of which only a rate is known, of at least this many bytes per second. */
function onlyRate({ facts, rates, second, direction }: Found, { devices }: Sums, least: number, filter?: Selection) {
  const { counted, excluded } = facts.devices;
  // On most nodes all rates are of devices that count.
  if ((rates?.devices.size ?? 0) <= devices && (second?.devices.size ?? 0) <= devices) return undefined;
  if (counted.some(({ isBond, unclear }) => isBond === true || unclear?.hasSlave === true)) return undefined;
  const isUnknown = (name: string): boolean =>
    !excluded.has(name) && isUplinkName(name) && !counted.some((device) => device.name === name);
  const rateOf = (name: string): number =>
    combined(direction, rates?.devices.get(name)?.rate ?? 0, second?.devices.get(name)?.rate ?? 0);
  return [...new Set([...(rates?.devices.keys() ?? []), ...(second?.devices.keys() ?? [])])]
    .filter((name) => isUnknown(name) && filter?.selects(name) !== false && rateOf(name) >= least)
    .sort()[0];
}
