import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/** Node.js' histogram of the times between two looks, nanoseconds. */
export type LooksHistogram = ReturnType<typeof monitorEventLoopDelay>;

/** Five times as seldom as prom-client looks, which takes 0.4 % of a core of a process that has nothing to do. */
export const LOOK_EVERY_MS = 50;

/** What has been seen since the last scrape: names as prom-client has them, so that dashboards for Node.js fit. */
const SEEN: Readonly<Record<string, { help: string; of: (seen: LooksHistogram) => number }>> = {
  min: { help: 'Shortest', of: ({ min }) => min },
  max: { help: 'Longest', of: ({ max }) => max },
  mean: { help: 'Mean', of: ({ mean }) => mean },
  p50: { help: 'Median', of: (seen) => seen.percentile(50) },
  p90: { help: '90th percentile of the', of: (seen) => seen.percentile(90) },
  p99: { help: '99th percentile of the', of: (seen) => seen.percentile(99) },
};

/** prom-client's, which hold the time between two looks, too; of the deviation nothing is told. */
const REPLACED = [...Object.keys(SEEN), 'stddev'];

/**
 * Puts metrics into a registry that tell how late the event loop is, in the place of those of that name that it has.
 * Node.js' histogram holds times between two looks; what is told is by how much they were longer than they should be.
 *
 * @param seen is reset with each scrape
 */
export function createEventLoopLag(
  registry: Registry,
  seen: LooksHistogram = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS }),
): void {
  seen.enable();
  for (const kind of REPLACED) registry.removeSingleMetric(nameOf(kind));
  // All at once, when the first is asked for: each has to be read before the histogram is reset.
  const collect = (): void => {
    if (seen.count === 0) return;
    for (const { gauge, of } of gauges) gauge.set(Math.max(0, of(seen) / 1e9 - LOOK_EVERY_MS / 1000));
    seen.reset();
  };
  const gauges = Object.entries(SEEN).map(([kind, { help, of }], index) => {
    const about = { name: nameOf(kind), help: `${help} lag of the event loop since the last scrape.` };
    return { of, gauge: new Gauge({ ...about, registers: [registry], ...(index === 0 && { collect }) }) };
  });
}

function nameOf(kind: string): string {
  return `nodejs_eventloop_lag_${kind}_seconds`;
}
