import { isUplinkName } from './devices/deviceKinds.ts';
import type { CountedDevice, NodeDevices } from './devices/devices.ts';
import { REAL_RATE, REAL_SHARE, realTraffic } from './rateProblems.ts';
import { isUsable } from './speeds.ts';
import { combined, type Found, type Sums } from './sums.ts';
import type { Problem } from './usageReason.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';

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
  const rateOfOne = (name: string): number =>
    combined(direction, rates?.devices.get(name)?.rate ?? 0, second?.devices.get(name)?.rate ?? 0);
  return [...new Set([...(rates?.devices.keys() ?? []), ...(second?.devices.keys() ?? [])])]
    .filter((name) => isUnknown(name) && filter?.selects(name) !== false && rateOfOne(name) >= least)
    .sort()[0];
}

/** The devices of a node whose newest sample is older than `oldestSeconds`. They have no rate. */
export interface LateDevices {
  readonly samples: NodeSamples;
  readonly oldestSeconds: number;
}

/**
 * The device without whose rate a percent would be wrong, undefined if there is none. Without a stated capacity:
 *
 * | device without a rate that the direction needs               | result                                           |
 * |--------------------------------------------------------------|--------------------------------------------------|
 * | its speed is below 1 % of the speeds of the measured devices | the device is not measured, the others are       |
 * | it is switched off, and has no usable speed                  | the same                                         |
 * | any other                                                    | the node is not measured: the device may be full |
 */
export function lackOfRate({ unrated, speed }: Sums): CountedDevice | undefined {
  if (unrated === undefined) return undefined;
  return isUsable(unrated.speed) && unrated.speed < REAL_SHARE * speed ? undefined : unrated;
}

/** The problem if no device has a rate. */
export function noRate(late: LateDevices | undefined, found: Found, names: readonly string[]): Problem {
  const kept = lacksReceived(found, names) ? ', or Prometheus does not keep node_network_receive_bytes_total' : '';
  return lackingRate(late, found, names, kept);
}

/** The problem if these devices have no rate, and others have one. */
export function oneRateLess(late: LateDevices | undefined, found: Found, names: readonly string[]): Problem {
  const metric = `node_network_${lacksReceived(found, names) ? 'receive' : 'transmit'}_bytes_total`;
  const [those, them] = [names.join(', '), names.length === 1 ? 'it' : 'them'];
  const remedy = `; if this lasts longer than the rate window, look at ${metric} of ${those} in Prometheus, or exclude ${them}: spec.devices`;
  return lackingRate(late, found, names, remedy);
}

function lackingRate(late: LateDevices | undefined, found: Found, names: readonly string[], remedy: string): Problem {
  const name = names.find((each) => late?.samples.devices.has(each));
  if (late && name !== undefined) return lateSample(late, name);
  const what = lacksReceived(found, names) ? 'no receive rate: ' : '';
  const lacking = `fewer than two samples in the rate window for ${names.join(', ')}: new, or not scraped recently`;
  return { reason: 'StaleSamples', message: what + lacking + remedy };
}

function lacksReceived({ direction, rates }: Found, names: readonly string[]): boolean {
  return direction !== 'Transmit' && (direction === 'Receive' || names.some((name) => rates?.devices.has(name)));
}

function lateSample({ samples, oldestSeconds }: LateDevices, name: string): Problem {
  const message = `the newest sample of ${name} is older than ${oldestSeconds} s: its scrapes fail, or reach Prometheus late`;
  const newestSeconds = samples.devices.get(name)?.newest;
  return { reason: 'StaleSamples', message, ...(newestSeconds === undefined ? {} : { newestSeconds }) };
}

type Group = NonNullable<NodeDevices['functions']>;

/** A physical function that counts the traffic of its functions has at least this part of it: rates are not exact. */
const AS_MUCH = 0.9;

/**
 * Message about a virtual function whose traffic no device that counts has, so that the load of its link is unknown. Undefined if there is none.
 * A virtual function does not count, since it shares the link of the physical function. Some drivers count its traffic for the physical function
 * also, most do not.
 *
 * | traffic of the functions of one physical function | the physical function | result                                    |
 * |---------------------------------------------------|-----------------------|-------------------------------------------|
 * | less than 1 % of its speed                        | any                   | they do not matter                        |
 * | at least 1 %                                      | has as much traffic   | they do not matter: it counts their traffic |
 * | at least 1 %                                      | has less traffic      | the node is not measured                  |
 * | at least 1 %                                      | is known by drivers only | the node is not measured: it may be a NIC of its own |
 *
 * Without a speed, 10 Mbit/s count instead of 1 %.
 */
export function busyFunction(found: Found): string | undefined {
  const { functions } = found.facts.devices;
  if (functions === undefined) return undefined;
  const groups = Map.groupBy(functions, ({ physical, byDriver }) => `${byDriver} ${physical}`);
  for (const group of groups.values()) {
    const message = describeBusy(found, group);
    if (message !== undefined) return message;
  }
  return undefined;
}

function describeBusy(found: Found, group: Group): string | undefined {
  const names = group.map(({ name }) => name);
  const [first] = group;
  const rate = rateOf(found, names);
  const speed = Math.max(...group.map((each) => (isUsable(each.speed) ? each.speed : 0)));
  if (first === undefined || rate < (speed > 0 ? REAL_SHARE * speed : REAL_RATE)) return undefined;
  const { physical, byDriver } = first;
  if (byDriver === undefined && rateOf(found, [physical]) >= AS_MUCH * rate) return undefined;
  const name = names.reduce((busiest, each) => (rateOf(found, [each]) > rateOf(found, [busiest]) ? each : busiest));
  const what =
    byDriver === undefined
      ? `is a virtual function of ${physical}, with traffic that ${physical} does not count`
      : `has traffic, and by its driver it may be a virtual function of ${physical}`;
  return (
    `${name} ${what}, so the load of their link is unknown; if ${name} is an uplink of the node, exclude ${physical}: --device-exclude ` +
    `(chart: deviceExclude); otherwise exclude ${name}: spec.devices`
  );
}

/**
 * Message about slaves whose traffic no device that counts has: their bond is left out by name. Undefined if there is none. A bond repeats the traffic of
 * its slaves, so a device that has as much can be their master, as the synthetic device of Azure without its driver.
 *
 * | traffic of the slaves together   | devices that count    | result                                   |
 * |----------------------------------|-----------------------|------------------------------------------|
 * | less than 1 % of their speeds    | any                   | they do not matter                       |
 * | at least 1 %                     | have as much traffic  | they do not matter                       |
 * | at least 1 %                     | have less traffic     | the node is not measured                 |
 */
export function busySlaves(found: Found): string | undefined {
  const { slaves, names } = found.facts.devices;
  if (slaves === undefined || names.length === 0) return undefined;
  const all = slaves.map(({ name }) => name);
  const rate = rateOf(found, all);
  const speed = slaves.reduce((sum, each) => sum + (isUsable(each.speed) ? each.speed : 0), 0);
  if (rate < (speed > 0 ? REAL_SHARE * speed : REAL_RATE) || rateOf(found, names) >= AS_MUCH * rate) return undefined;
  const those = all.join(', ');
  return (
    `${those} carry traffic as slaves, and no bond of the node counts: if the bond is an uplink, do not exclude it by name ` +
    `(--device-exclude; chart: deviceExclude); otherwise exclude ${those} also: --device-exclude, or spec.devices`
  );
}

/** Bytes per second of these devices together. A rate that is missing counts as 0. */
function rateOf({ rates, second, direction }: Found, names: readonly string[]): number {
  const sum = (of: Found['rates']): number =>
    names.reduce((total, name) => total + Math.max(of?.devices.get(name)?.rate ?? 0, 0), 0);
  return combined(direction, sum(rates), sum(second));
}
