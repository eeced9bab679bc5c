import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Bytes per second of every synthetic device unless a test sets another: 1 Gbit/s, so that 1,250,000 B/s are 1 %. */
export const SPEED_BYTES = 125_000_000;

/** The load of a device from now on; absent fields do not change. */
export interface DeviceLoad {
  /** Percent of its speed. At first 0. */
  readonly sends?: number;
  /** Percent of its speed. A device has no counter of received bytes until this is set. */
  readonly receives?: number;
  /** Bytes per second. */
  readonly speed?: number;
}

interface Counter {
  bytes: number;
  rate: number;
}

interface Device {
  readonly sent: Counter;
  received: Counter | undefined;
  speed: number;
  since: number;
}

/** An exporter for many nodes, whose counters grow as a test requires. */
export interface SyntheticExporter {
  /** host:port to scrape */
  readonly target: string;
  /** From now on eth0 of the node sends at `percent` of its speed. */
  setPercent(node: string, percent: number): void;
  /** Adds the device to the node, or changes its load. */
  setDevice(node: string, device: string, load: DeviceLoad): void;
  /** From now on no series has the speed of the node, as on many virtual machines. */
  hideSpeed(node: string): void;
  /** Removes the series of the node. */
  remove(node: string): void;
  stop(): Promise<void>;
}

/** Gives samples, each a line, the time of now: a Prometheus that scrapes them writes no staleness markers for their series. */
export function timestamped(lines: string, milliseconds = Date.now()): string {
  return lines.replaceAll('\n', ` ${milliseconds}\n`);
}

/**
 * Starts the exporter on loopback, with the devices that a test gives to each node.
 *
 * @param options.withTimes samples have the time at which they were asked for. Then Prometheus writes no staleness
 *   markers: a scrape that fails on a busy machine takes no figure away while the rate window has earlier scrapes.
 */
export async function startSyntheticExporter({ withTimes = false } = {}): Promise<SyntheticExporter> {
  const nodes = new Map<string, Map<string, Device>>();
  const speedless = new Set<string>();
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/plain; version=0.0.4');
    const text = [...nodes]
      .flatMap(([node, devices]) => [...devices].map((each) => exposition(node, ...each, speedless.has(node))))
      .join('');
    response.end(withTimes ? timestamped(text) : text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const setDevice: SyntheticExporter['setDevice'] = (node, name, load) => {
    const devices = nodes.get(node) ?? new Map<string, Device>();
    nodes.set(node, devices);
    const device = devices.get(name) ?? newDevice();
    devices.set(name, device);
    change(device, load);
  };
  return {
    target: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    setPercent: (node, percent) => setDevice(node, 'eth0', { sends: percent }),
    setDevice,
    hideSpeed: (node) => void speedless.add(node),
    remove: (node) => void nodes.delete(node),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function newDevice(): Device {
  return { sent: newCounter(), received: undefined, speed: SPEED_BYTES, since: performance.now() };
}

function newCounter(): Counter {
  return { bytes: 1e6, rate: 0 };
}

function change(device: Device, { sends, receives, speed = device.speed }: DeviceLoad): void {
  advance(device);
  device.speed = speed;
  if (sends !== undefined) device.sent.rate = (speed * sends) / 100;
  if (receives === undefined) return;
  device.received ??= newCounter();
  device.received.rate = (speed * receives) / 100;
}

function advance(device: Device): void {
  const now = performance.now();
  for (const counter of [device.sent, device.received]) {
    if (counter) counter.bytes += (counter.rate * (now - device.since)) / 1000;
  }
  device.since = now;
}

function exposition(node: string, name: string, device: Device, isSpeedless: boolean): string {
  advance(device);
  const labels = `{node="${node}",device="${name}"}`;
  return [
    `node_network_transmit_bytes_total${labels} ${Math.trunc(device.sent.bytes)}`,
    ...(device.received ? [`node_network_receive_bytes_total${labels} ${Math.trunc(device.received.bytes)}`] : []),
    ...(isSpeedless ? [] : [`node_network_speed_bytes${labels} ${device.speed}`]),
    `node_network_flags${labels} 4163`, // up, broadcast, running, multicast
    '',
  ].join('\n');
}
