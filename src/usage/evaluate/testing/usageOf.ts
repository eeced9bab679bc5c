import { annotated, type StatedCapacity } from '../../../nodes/statedCapacity.ts';
import { DeviceFilters } from '../devices/deviceFilter.ts';
import { DEFAULT_EXCLUDED_DEVICES, wholeName } from '../devices/devices.ts';
import { FactsCondenser } from '../nodeFacts.ts';
import { nodeUsage, type NodeUsage } from '../percent.ts';
import { DEFAULT_READING, type Reading } from '../reading.ts';
import { SeriesDecoder } from '../../series/seriesDecoder.ts';

const EXCLUDE = wholeName(DEFAULT_EXCLUDED_DEVICES);
/** Evaluation time of the server. */
export const TIME = 1_700_000_000.5;
const RESOLVER = { resolve: (node: string | undefined) => node };
const METRICS = {
  total: 'node_network_transmit_bytes_total',
  speed: 'node_network_speed_bytes',
  flags: 'node_network_flags',
  ifaceId: 'node_network_iface_id',
  ifaceLink: 'node_network_iface_link',
} as const;

/** UP, BROADCAST, MULTICAST. */
const ETHERNET = String(0x1003);

/** The samples of one device of the node, as texts. It has the flags of Ethernet and is on no other device by default. */
export interface Device {
  name: string;
  rate?: string;
  received?: string;
  total?: string;
  speed?: string;
  flags?: string | undefined;
  ifaceId?: string | undefined;
  ifaceLink?: string | undefined;
  driver?: string | undefined;
  instance?: string;
}

function series(device: Device, value: string) {
  const { instance = 'a:9100', driver } = device;
  return {
    metric: { node: 'a', instance, device: device.name, ...(driver !== undefined && { driver }) },
    value: [TIME, value],
  };
}

/**
 * The usage of a node with these devices.
 * @param capacity a text is a value of the annotation
 */
export function usageOf(devices: readonly Device[], capacity?: string | StatedCapacity, reading?: Reading): NodeUsage {
  const facts = new SeriesDecoder(RESOLVER, 'facts');
  const rates = new SeriesDecoder(RESOLVER, 'rate');
  const received = new SeriesDecoder(RESOLVER, 'rate');
  for (const [n, given] of devices.entries()) {
    const index = String(n + 2);
    const usual = given.total === undefined ? {} : { flags: ETHERNET, ifaceId: index, ifaceLink: index };
    const device: Device = { ...usual, ...given };
    if (device.rate !== undefined) rates.visit(series(device, device.rate));
    if (device.received !== undefined) received.visit(series(device, device.received));
    if (device.driver !== undefined) facts.ofMetric('node_ethtool_info').visit(series(device, '1'));
    for (const field of ['total', 'speed', 'flags', 'ifaceId', 'ifaceLink'] as const) {
      const value = device[field];
      if (value !== undefined) facts.ofMetric(METRICS[field]).visit(series(device, value));
    }
  }
  const samples = facts.nodes.get('a');
  const all = samples && new FactsCondenser(EXCLUDE).condense(samples);
  const filter = new DeviceFilters().of(reading ?? DEFAULT_READING);
  if (filter === 'Invalid') throw new Error('a pattern of the reading is invalid');
  const found = { facts: all && (filter?.apply(all) ?? all), rates: rates.nodes.get('a'), filter };
  const stated = typeof capacity === 'string' ? annotated(capacity) : capacity;
  const rest = { received: received.nodes.get('a'), reading, capacity: stated, timeSeconds: TIME };
  return nodeUsage({ node: 'a', ...found, ...rest });
}
