import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const VALUES = new URL('../../charts/traffic-operator/values.yaml', import.meta.url);
/** Measured with Node.js 24 in memory cgroups of 128 MiB to 2 GiB. */
const SHARE_OF_LIMIT = 1 / 2;
const LEAST_MIB = 256;

/** The memory limit of the chart. Throws if the value is not in Mi. */
export function chartMemoryLimitMebibytes(): number {
  const { resources } = parse(readFileSync(VALUES, 'utf8')) as { resources: { limits: { memory: string } } };
  return mebibytes(resources.limits.memory);
}

/** The heap option for the memory limit of the chart. */
export function chartHeapOption(): string {
  return heapOption(`${chartMemoryLimitMebibytes()}Mi`);
}

/**
 * The option for the heap size that Node.js chooses under a memory limit, which processes here do not have: the maximum
 * size of old objects. A smaller limit makes V8 collect garbage earlier. Throws if the limit is not in Mi.
 */
export function heapOption(limit: string): string {
  return `--max-old-space-size=${Math.max(LEAST_MIB, mebibytes(limit) * SHARE_OF_LIMIT)}`;
}

function mebibytes(quantity: string): number {
  const [, number] = /^(\d+)Mi$/.exec(quantity) ?? [];
  if (number === undefined) throw new Error(`memory limit ${quantity}: must be in Mi`);
  return Number(number);
}
