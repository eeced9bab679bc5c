import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Bytes per second of every synthetic device: 1 Gbit/s, so that 1,250,000 B/s are 1 %. */
export const SPEED_BYTES = 125_000_000;

interface Device {
  bytes: number;
  rate: number;
  since: number;
}

/** An exporter for many nodes, whose counters grow as a test requires. */
export interface SyntheticExporter {
  /** host:port to scrape */
  readonly target: string;
  /** From now on the node sends at `percent` of its speed. */
  setPercent(node: string, percent: number): void;
  /** From now on no series has the speed of the node, as on many virtual machines. */
  hideSpeed(node: string): void;
  /** Removes the series of the node. */
  remove(node: string): void;
  stop(): Promise<void>;
}

/** Starts the exporter on loopback, with one device, eth0, for each node that has a percent. */
export async function startSyntheticExporter(): Promise<SyntheticExporter> {
  const devices = new Map<string, Device>();
  const speedless = new Set<string>();
  const advance = (device: Device): void => {
    const now = performance.now();
    device.bytes += (device.rate * (now - device.since)) / 1000;
    device.since = now;
  };
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/plain; version=0.0.4');
    const lines = [...devices].map(
      ([node, device]) => (advance(device), exposition(node, device, speedless.has(node))),
    );
    response.end(lines.join(''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    target: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    setPercent: (node, percent) => {
      const device = devices.get(node) ?? { bytes: 1e6, rate: 0, since: performance.now() };
      advance(device);
      device.rate = (SPEED_BYTES * percent) / 100;
      devices.set(node, device);
    },
    hideSpeed: (node) => void speedless.add(node),
    remove: (node) => void devices.delete(node),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function exposition(node: string, device: Device, isSpeedless: boolean): string {
  const labels = `{node="${node}",device="eth0"}`;
  return [
    `node_network_transmit_bytes_total${labels} ${Math.trunc(device.bytes)}`,
    ...(isSpeedless ? [] : [`node_network_speed_bytes${labels} ${SPEED_BYTES}`]),
    `node_network_flags${labels} 4163`, // up, broadcast, running, multicast
    '',
  ].join('\n');
}
