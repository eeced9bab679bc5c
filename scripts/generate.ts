/**
 * Writes all generated files; `--check` writes nothing and fails if one of them is stale.
 *
 *   node scripts/generate.ts [--check]
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chart } from './generate/chart.ts';
import { crds } from './generate/crds.ts';
import { dashboardFiles } from './generate/dashboards.ts';
import { deploy } from './generate/deploy.ts';
import { devicesPage } from './generate/devices.ts';
import { docs } from './generate/docs.ts';
import { effectPage } from './generate/effect.ts';
import type { GeneratedFile } from './generate/file.ts';
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
  chart,
  dashboardFiles,
  deploy,
  prometheus,
  docs,
  devicesPage,
  performancePage,
  effectPage,
];

/** Runs every generator and returns the paths of stale files. */
export async function generate(write: boolean, root = ROOT, generators = GENERATORS): Promise<string[]> {
  const stale: string[] = [];
  for (const generator of generators) {
    for (const { path, content } of await generator()) {
      if (read(join(root, path)) === content) continue;
      stale.push(path);
      if (write) store(join(root, path), content);
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

function store(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

if (import.meta.main) {
  const check = process.argv.includes('--check');
  const stale = await generate(!check);
  for (const path of stale) console.log(`${check ? 'stale' : 'written'}: ${path}`);
  if (check && stale.length > 0) process.exitCode = 1;
}
