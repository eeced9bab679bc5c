import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DEVICES, nodeName, percentOf, SPEED_BYTES } from './shape.ts';

/**
 * One process that serves the metrics of a range of nodes, with the label `node` in each series.
 *
 *   node test/bench/exporter.ts FIRST COUNT PER_TARGET
 *
 * Prints a line with the addresses of all targets, `127.0.0.1:port`, when they listen, and serves until it is killed.
 * In addition to the metrics that the deployed Prometheus keeps, each device has two metrics that it drops.
 */
const [first = 0, count = 0, perTarget = 1] = process.argv.slice(2).map(Number);
const startedAt = Date.now();

/** The constant part of a node's metrics. */
function facts(index: number): string {
  return DEVICES.map((device, number) => {
    const labels = `{node="${nodeName(index)}",device="${device}"}`;
    return [
      `node_network_speed_bytes${labels} ${SPEED_BYTES}`,
      `node_network_flags${labels} 4163`, // up, broadcast, running, multicast
      `node_network_iface_id${labels} ${number + 2}`,
      `node_network_iface_link${labels} ${number + 2}`,
      `node_network_mtu_bytes${labels} 1500`,
      `node_network_receive_bytes_total${labels} 1000000`,
      '',
    ].join('\n');
  }).join('');
}

/** Counters with timestamps, so that a late scrape does not change a rate. */
function counters(index: number, now: number): string {
  const seconds = (now - startedAt) / 1000;
  const bytes = Math.trunc(1e6 + ((SPEED_BYTES * percentOf(index)) / 100) * seconds);
  const line = (device: string): string =>
    `node_network_transmit_bytes_total{node="${nodeName(index)}",device="${device}"} ${bytes} ${now}\n`;
  return DEVICES.map(line).join('');
}

async function serve(nodes: readonly number[]): Promise<number> {
  const constant = Buffer.from(nodes.map(facts).join(''));
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/plain; version=0.0.4');
    const now = Date.now();
    response.write(nodes.map((index) => counters(index, now)).join(''));
    response.end(constant);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const starts = Array.from({ length: Math.ceil(count / perTarget) }, (_, n) => first + n * perTarget);
const targets = starts.map((from) =>
  Array.from({ length: Math.min(perTarget, first + count - from) }, (_, n) => from + n),
);
for (const port of await Promise.all(targets.map(serve))) console.log(`127.0.0.1:${port}`);
console.log('ready');
