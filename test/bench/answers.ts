import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { summarize } from './statistics.ts';
import { number } from './table.ts';

/**
 * Measures three ways to parse a response of Prometheus: while it arrives, as a whole with JSON.parse, and with
 * prometheus-query:
 *
 *     node test/bench/answers.ts [repetitions]
 */
const REPETITIONS = Number(process.argv[2] ?? 5);
const MEGABYTE = 1_000_000;
const SIZES = [0.1, 0.25, 1, 8, 25];
const WAYS = ['streaming', 'whole', 'library'] as const;
const DEVICES = ['eth0', 'eth1', 'eth2'];
/** A hundred nodes with many devices: their names fit into the arguments of a process. */
const NODES = Array.from({ length: 100 }, (_, n) => `node-${String(n).padStart(5, '0')}`);
const FIGURES = ['cpu', 'stop', 'memory'] as const;

type Way = (typeof WAYS)[number];
type Taken = Record<(typeof FIGURES)[number], number>;

/** Rates of as many devices as are necessary for a body of this size in bytes. */
function answerOf(bytes: number): Buffer {
  const series: string[] = [];
  for (let length = 0, n = 0; length < bytes; n++) {
    const labels = { device: `${DEVICES[n % 3]}-${n}`, instance: `10.0.0.${n % 100}:9100`, job: 'node-exporter' };
    const metric = { ...labels, node: NODES[Math.floor(n / 3) % NODES.length] };
    series.push(JSON.stringify({ metric, value: [1_763_800_000.123, String((n * 7919.25) % 125_000_000)] }));
    length += series.at(-1)!.length + 1;
  }
  return Buffer.from(`{"status":"success","data":{"resultType":"vector","result":[${series.join(',')}]}}`);
}

async function measure(way: Way, base: string, size: number): Promise<Taken> {
  const reader = join(import.meta.dirname, 'answerReader.ts');
  const args = [reader, `${base}/${size}`, way, NODES.join(','), `${base}/${SIZES[0]}`];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Taken;
}

function row(size: number, way: Way, taken: ReadonlyMap<Way, readonly Taken[]>): string {
  const cells = FIGURES.map((figure) => {
    const [mine, ours] = [way, 'streaming' as const].map((one) => summarize(taken.get(one)!.map((t) => t[figure])));
    const ratio = way === 'streaming' ? '' : ` (× ${(mine!.median / ours!.median).toFixed(1)})`;
    return `${[mine!.min, mine!.median, mine!.max].map(number).join(' / ')}${ratio}`;
  });
  return `| ${[`${size} MB`, way, ...cells].join(' | ')} |`;
}

const bodies = new Map(SIZES.map((size) => [String(size), answerOf(size * MEGABYTE)]));
const server = createServer(({ url = '' }, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(bodies.get(url.split('/')[1] ?? ''));
});
// A reader that computes for seconds would find its idle connection closed.
server.keepAliveTimeout = 0;
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
console.log('| response | parsed by | CPU, ms | longest block of the event loop, ms | growth of peak memory, MiB |');
console.log('| -------: | --------- | ------: | ----------------------------------: | -------------------------: |');
for (const size of SIZES) {
  const taken = new Map(WAYS.map((way) => [way, [] as Taken[]]));
  for (let n = 0; n < REPETITIONS; n++) {
    for (const way of WAYS) taken.get(way)!.push(await measure(way, base, size));
  }
  for (const way of WAYS) console.log(row(size, way, taken));
}
server.close();
