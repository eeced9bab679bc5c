import { KEPT_METRICS } from '../../../src/controllers/measurement/components/prometheusConfig.ts';
import { sleep } from '../../harness/measured.ts';
import type { Figure } from '../figure.ts';
import { anonymousBytes, residentBytes } from '../../harness/processUse.ts';
import type { World } from '../world.ts';

const MIB = 1024 ** 2;
const PAUSE_MS = 5_000;

/** The deployed Prometheus with its own configuration and three devices per node, after all queries. */
export async function measurePrometheus({ prometheus }: World, repetitions: number): Promise<Figure[]> {
  const resident: number[] = [];
  const anonymous: number[] = [];
  for (let n = 0; n < repetitions; n += 1) {
    await sleep(PAUSE_MS);
    resident.push(residentBytes(prometheus.pid) / MIB);
    anonymous.push(anonymousBytes(prometheus.pid) / MIB);
  }
  const kept = KEPT_METRICS.map((metric) => `__name__!="${metric}"`).join(',');
  // Excludes the series that Prometheus adds for each target, and records of rules, which contain a colon.
  const strays = await prometheus.query(`count({job="node-exporter",__name__!~"up|scrape_.*|.*:.*",${kept}})`);
  const series = await prometheus.own('prometheus_tsdb_head_series');
  const minutes = Math.round((performance.now() - prometheus.readyAt) / 60_000);
  return [
    {
      id: 'prometheus.resident',
      what: `resident memory of the deployed Prometheus with ${series} series, ${minutes} minutes old`,
      unit: 'MiB',
      samples: resident,
      atMost: 350,
    },
    {
      id: 'prometheus.anonymous',
      what: 'of it anonymous memory (the rest is file pages, which the kernel can reclaim)',
      unit: 'MiB',
      samples: anonymous,
    },
    {
      id: 'prometheus.strays',
      what: 'series of unused metrics',
      unit: 'calls',
      samples: [strays[0] ?? 0],
      atMost: 0,
    },
  ];
}
