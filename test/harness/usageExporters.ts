import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Far below the scrape interval of the tests, so that counters grow evenly. */
const COUNT_EVERY_MS = 50;

/** An exporter whose text a test provides. */
export interface TextExporter {
  /** host:port to scrape */
  readonly address: string;
  /** Returns the text for each scrape; undefined is HTTP 500. */
  text: (secondsSinceStart: number, path: string) => string | undefined;
  stop(): Promise<void>;
}

export async function startTextExporter(): Promise<TextExporter> {
  const start = performance.now();
  const server = createServer((request, response) => {
    const text = exporter.text((performance.now() - start) / 1000, request.url ?? '');
    response.writeHead(text === undefined ? 500 : 200, { 'Content-Type': 'text/plain; version=0.0.4' });
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const exporter: TextExporter = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    text: () => '',
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return exporter;
}

/** Lines for one device; `facts` by the short names of node_network_*. */
export function deviceLines(labels: Record<string, string>, facts: Record<string, number | string>): string {
  const names: Record<string, string> = { total: 'transmit_bytes_total', speed: 'speed_bytes' };
  const text = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return Object.entries(facts)
    .map(([name, value]) => `node_network_${names[name] ?? name}{${text.join(',')}} ${value}\n`)
    .join('');
}

/** A device as in /sys/class/net and /proc/net/dev. */
export interface KernelDevice {
  ifindex: number;
  iflink?: number;
  flags?: number;
  /** Mbit/s, -1 if it is down; without it there is no file, as on AWS. */
  speed?: number;
  /** Transmit rate in bytes per second. */
  rate: number;
}

/** Trees for --path.sysfs and --path.procfs of node_exporter, with devices that this machine does not have. */
export interface KernelTree {
  readonly flags: readonly string[];
  /** Sets the speeds of devices, as the kernel writes them: Mbit/s, -1 if it is not known. */
  setSpeeds(speeds: Readonly<Record<string, number>>): Promise<void>;
  stop(): Promise<void>;
}

export async function createKernelTree(devices: Record<string, KernelDevice>): Promise<KernelTree> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-kernel-'));
  const start = performance.now();
  await mkdir(join(directory, 'proc/net'), { recursive: true });
  for (const [name, device] of Object.entries(devices))
    await writeDevice(join(directory, 'sys/class/net', name), device);
  const count = (): Promise<void> =>
    writeFile(join(directory, 'proc/net/dev'), procNetDev(devices, (performance.now() - start) / 1000));
  let counted = count();
  await counted;
  const counting = setInterval(() => {
    counted = counted.then(count);
  }, COUNT_EVERY_MS);
  const netdev = ['--collector.netdev', '--no-collector.netdev.netlink', `--path.procfs=${directory}/proc`];
  return {
    flags: ['--collector.disable-defaults', ...netdev, '--collector.netclass', `--path.sysfs=${directory}/sys`],
    setSpeeds: async (speeds) => {
      for (const [device, speed] of Object.entries(speeds))
        await writeFile(join(directory, 'sys/class/net', device, 'speed'), `${speed}\n`);
    },
    stop: async () => {
      clearInterval(counting);
      // A write that is under way would not find the directory.
      await counted;
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function writeDevice(
  path: string,
  { ifindex, iflink = ifindex, flags = 0x1003, speed }: KernelDevice,
): Promise<void> {
  await mkdir(path, { recursive: true });
  const files = { ifindex, iflink, flags: `0x${flags.toString(16)}`, ...(speed !== undefined && { speed }) };
  for (const [name, value] of Object.entries(files)) await writeFile(join(path, name), `${value}\n`);
}

function procNetDev(devices: Record<string, KernelDevice>, seconds: number): string {
  const lines = Object.entries(devices).map(([name, { rate }]) => {
    return `${name}: 0 0 0 0 0 0 0 0 ${Math.trunc(1e6 + rate * seconds)} 0 0 0 0 0 0 0`;
  });
  return `Inter-|   Receive    |  Transmit\n face |bytes |bytes\n${lines.join('\n')}\n`;
}

/** A histogram instead of a counter: Prometheus stores it as a native one. */
export function histogram(node: string, seconds: number): string {
  const name = 'node_network_transmit_bytes_total';
  const labels = `node="${node}",device="eth0"`;
  const buckets = ['1', '+Inf'].map((le) => `${name}_bucket{${labels},le="${le}"} ${Math.trunc(seconds * 10)}\n`);
  return `# TYPE ${name} histogram\n${buckets.join('')}${name}_sum{${labels}} 1\n${name}_count{${labels}} ${Math.trunc(seconds * 10)}\n`;
}
