import type { CountedDevice } from '../devices/devices.ts';
import { REAL_SHARE } from '../rateProblems.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import { isUsable } from '../speeds.ts';
import type { Found, Sums } from '../sums.ts';
import type { Problem } from '../usageReason.ts';

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
