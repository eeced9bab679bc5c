import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const VALUES = new URL('../../charts/traffic-operator/values.yaml', import.meta.url);
/** Measured with Node.js 24 in memory cgroups of 128 MiB to 2 GiB. */
const SHARE_OF_LIMIT = 1 / 2;
const LEAST_MIB = 256;

/** The memory limit of the chart. Throws if the value is not in Mi. */
export function chartMemoryLimitMebibytes(): number {
  const { resources } = parse(readFileSync(VALUES, 'utf8')) as { resources: { limits: { memory: string } } };
  const [, mebibytes] = /^(\d+)Mi$/.exec(resources.limits.memory) ?? [];
  if (mebibytes === undefined) throw new Error(`resources.limits.memory=${resources.limits.memory}: must be in Mi`);
  return Number(mebibytes);
}

/**
 * The option for the heap size that Node.js chooses under the memory limit of the chart, which processes here do not
 * have: the maximum size of old objects. A smaller limit makes V8 collect garbage earlier.
 */
export function chartHeapOption(): string {
  return `--max-old-space-size=${Math.max(LEAST_MIB, chartMemoryLimitMebibytes() * SHARE_OF_LIMIT)}`;
}
