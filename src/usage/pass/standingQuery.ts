import { LONGEST_SILENCE_SECONDS } from '../evaluate/rateProblems.ts';
import { DEFAULT_EXCLUDED_DEVICES } from '../evaluate/devices/devices.ts';
import { newest, offsetOf, sentWithout, type UsageQuery } from './queries.ts';

/**
 * Returns the query for nodes whose counters get samples, but have stood still. The value is 0. One query asks for counters and times, so that no sample
 * comes between two answers.
 *
 * | device                                      | its counter shows that the node is alive      |
 * |---------------------------------------------|-----------------------------------------------|
 * | that the user excludes by name              | yes: it may be the one with the heartbeats    |
 * | lo                                          | yes: the node-exporter may leave out a NIC    |
 * | of a pod, as the default pattern has it     | not asked for: there may be hundreds          |
 *
 * @param seconds how long
 */
export function standingQuery(query: UsageQuery, seconds: number): string {
  const { excludedDevices: excluded = DEFAULT_EXCLUDED_DEVICES } = query;
  const patterns = [DEFAULT_EXCLUDED_DEVICES, ...(excluded.startsWith(DEFAULT_EXCLUDED_DEVICES) ? [] : [excluded])];
  const most = (valueOf: (counters: string) => string): string =>
    `max by (node, instance) (${patterns.map((names) => valueOf(sentWithout(names, query))).join(' or ')})`;
  const sent = most((each) => `abs(${each} - ${each}${offsetOf(seconds)})`);
  const time = most((each) => `${newest(each, 0)} - ${newest(each, seconds)}`);
  return `${sent} == 0 and ${time} >= ${LONGEST_SILENCE_SECONDS}`;
}
