/**
 * Writes all generated files; `--check` writes nothing and fails if one of them is stale.
 *
 *   node scripts/generate.ts [--check]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chart } from './generate/chart.ts';
import { crds } from './generate/crds.ts';
import { dashboardFiles } from './generate/dashboards.ts';
import { bundle } from './generate/bundle/bundle.ts';
import { olm } from './generate/bundle/subscription.ts';
import { deploy } from './generate/deploy.ts';
import { devicesPage } from './generate/devices.ts';
import { docs } from './generate/docs.ts';
import { effectPage } from './generate/effect.ts';
import { type GeneratedFile, writeFiles } from './generate/file.ts';
import { lastRuns } from './generate/lastRuns.ts';
import { guardsPage } from './generate/guards.ts';
import { placement } from './generate/placement.ts';
import { performancePage } from './generate/performance.ts';
import { prometheus } from './generate/prometheus.ts';
import { rights } from './generate/rights.ts';

/** Renders the files of one kind. */
export type Generator = () => GeneratedFile[] | Promise<GeneratedFile[]>;

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** In order: a later generator may read the output of an earlier one. */
const GENERATORS: readonly Generator[] = [
  crds,
  rights,
  placement,
  chart,
  dashboardFiles,
  deploy,
  () => bundle(),
  olm,
  prometheus,
  docs,
  devicesPage,
  performancePage,
  effectPage,
  lastRuns,
  () => guardsPage(),
];

/** Runs every generator and returns the paths of stale files. */
export async function generate(write: boolean, root = ROOT, generators = GENERATORS): Promise<string[]> {
  const stale: string[] = [];
  for (const generator of generators) {
    for (const file of await generator()) {
      if (read(join(root, file.path)) === file.content) continue;
      stale.push(file.path);
      if (write) writeFiles(root, [file]);
    }
  }
  return stale;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const check = process.argv.includes('--check');
  const stale = await generate(!check);
  for (const path of stale) console.log(`${check ? 'stale' : 'written'}: ${path}`);
  if (check && stale.length > 0) process.exitCode = 1;
}
