import { REAL_RATE, REAL_SHARE } from '../rateProblems.ts';
import { isUsable } from '../speeds.ts';
import { combined, type Found } from '../sums.ts';
import type { NodeDevices } from './devices.ts';

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

/** Bytes per second of these devices together. A rate that is missing counts as 0. */
function rateOf({ rates, second, direction }: Found, names: readonly string[]): number {
  const sum = (of: Found['rates']): number =>
    names.reduce((total, name) => total + Math.max(of?.devices.get(name)?.rate ?? 0, 0), 0);
  return combined(direction, sum(rates), sum(second));
}
