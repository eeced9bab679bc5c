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
  const gauges = Object.entries(SEEN).map(([kind, { help, of }]) => {
    const name = `nodejs_eventloop_lag_${kind}_seconds`;
    registry.removeSingleMetric(name);
    const gauge = new Gauge({
      name,
      help: `${help} lag of the event loop since the last scrape.`,
      registers: [registry],
    });
    return { gauge, of };
  });
  const [first] = gauges;
  // All at once, by the one that is asked first: each has to be read before the histogram is reset.
  Object.assign(first?.gauge ?? {}, {
    collect: () => {
      if (seen.count === 0) return;
      for (const { gauge, of } of gauges) gauge.set(Math.max(0, of(seen) / 1e9 - LOOK_EVERY_MS / 1000));
      seen.reset();
    },
  });
}
