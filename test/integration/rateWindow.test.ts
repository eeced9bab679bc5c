import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { stringify } from 'yaml';
import { managerFlags } from '../../src/commands/manager/flags.ts';
import { managerOptions } from '../../src/commands/manager/managerOptions.ts';
import { CONTROLLERS } from '../../src/controllers/registry.ts';
import { readFlags } from '../../src/options/readFlags.ts';
import { samplesPerWindowQuery, type UsageQuery } from '../../src/usage/pass/queries.ts';
import { promtool } from './promtool.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rate-window-'));
  const kubeconfig = '{clusters: [{name: c, cluster: {server: "https://c"}}], users: [], contexts: []}';
  await writeFile(join(directory, 'kubeconfig'), kubeconfig);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function queryOf(args: readonly string[]): UsageQuery {
  const flags = readFlags(managerFlags(CONTROLLERS), [`--kubeconfig=${directory}/kubeconfig`, ...args], {});
  return managerOptions(flags, {}, pino({ level: 'silent' })).query;
}

/** Asks right at a scrape, right before one and in between, since passes and scrapes do not run in step. */
function unitTest(query: UsageQuery, intervalSeconds: number): string {
  const expression = `${samplesPerWindowQuery(query)} >= bool 4`;
  const moments = [0, 1, intervalSeconds - 1].map((second) => `${600 * intervalSeconds + second}s`);
  return stringify({
    tests: [
      {
        interval: `${intervalSeconds}s`,
        input_series: [{ series: 'node_network_transmit_bytes_total{node="a",device="eth0"}', values: '0+1x700' }],
        promql_expr_test: moments.map((moment) => ({
          expr: expression,
          eval_time: moment,
          exp_samples: [{ labels: '{}', value: 1 }],
        })),
      },
    ],
  });
}

describe("the window, in Prometheus' own reckoning", () => {
  it.each([1, 5, 15, 30, 60, 120])('holds four scrapes with --scrape-interval=%is alone', async (seconds) => {
    const file = join(directory, `${seconds}.yml`);
    await writeFile(file, unitTest(queryOf([`--scrape-interval=${seconds}s`]), seconds));
    await promtool('test', 'rules', file);
  });
});
