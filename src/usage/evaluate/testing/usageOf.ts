import { annotated, type StatedCapacity } from '../../../nodes/statedCapacity.ts';
import { DEFAULT_EXCLUDED_DEVICES, wholeName } from '../devices/devices.ts';
import { FactsCondenser } from '../nodeFacts.ts';
import { nodeUsage, type NodeUsage } from '../percent.ts';
import type { Reading } from '../reading.ts';
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

/** The samples of one device of the node, as texts. */
export interface Device {
  name: string;
  rate?: string;
  received?: string;
  total?: string;
  speed?: string;
  flags?: string;
  instance?: string;
}

function series(device: Device, name: string | undefined, value: string) {
  const { instance = 'a:9100' } = device;
  return {
    metric: { ...(name && { __name__: name }), node: 'a', instance, device: device.name },
    value: [TIME, value],
  };
}

/**
 * The usage of a node with these devices.
 * @param capacity a text is a value of the annotation
 */
export function usageOf(devices: readonly Device[], capacity?: string | StatedCapacity, reading?: Reading): NodeUsage {
  const facts = new SeriesDecoder(RESOLVER);
  const rates = new SeriesDecoder(RESOLVER, 'rate');
  const received = new SeriesDecoder(RESOLVER, 'rate');
  for (const device of devices) {
    if (device.rate !== undefined) rates.visit(series(device, undefined, device.rate));
    if (device.received !== undefined) received.visit(series(device, undefined, device.received));
    for (const field of ['total', 'speed', 'flags'] as const) {
      const value = device[field];
      if (value !== undefined) facts.visit(series(device, METRICS[field], value));
    }
  }
  const samples = facts.nodes.get('a');
  const found = { facts: samples && new FactsCondenser(EXCLUDE).condense(samples), rates: rates.nodes.get('a') };
  const stated = typeof capacity === 'string' ? annotated(capacity) : capacity;
  const rest = { received: received.nodes.get('a'), reading, capacity: stated, timeSeconds: TIME };
  return nodeUsage({ node: 'a', ...found, ...rest });
}
