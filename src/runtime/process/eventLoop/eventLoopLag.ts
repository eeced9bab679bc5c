import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/** Node.js' histogram of the times between two samples of the event loop, nanoseconds. */
export type LooksHistogram = ReturnType<typeof monitorEventLoopDelay>;

/** Sampling interval. prom-client samples five times as often, which costs an idle process 0.4 % of a core. */
export const LOOK_EVERY_MS = 50;

/** The statistics since the last scrape, with the names of prom-client, so that dashboards for Node.js work. */
const SEEN: Readonly<Record<string, { help: string; of: (seen: LooksHistogram) => number }>> = {
  min: { help: 'Shortest', of: ({ min }) => min },
  max: { help: 'Longest', of: ({ max }) => max },
  mean: { help: 'Mean', of: ({ mean }) => mean },
  p50: { help: 'Median', of: (seen) => seen.percentile(50) },
  p90: { help: '90th percentile of the', of: (seen) => seen.percentile(90) },
  p99: { help: '99th percentile of the', of: (seen) => seen.percentile(99) },
};

/** prom-client's metrics to replace: they include the sampling interval. The deviation is dropped. */
const REPLACED = [...Object.keys(SEEN), 'stddev'];

/**
 * Registers metrics of the event loop's lag instead of prom-client's metrics of the same names. Node.js' histogram
 * contains the times between two samples; these metrics subtract the sampling interval.
 *
 * @param seen reset at each scrape
 */
export function createEventLoopLag(
  registry: Registry,
  seen: LooksHistogram = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS }),
): void {
  seen.enable();
  for (const kind of REPLACED) registry.removeSingleMetric(nameOf(kind));
  // Sets all gauges when the first is collected: each must be read before the histogram is reset.
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
