import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const VALUES = new URL('../../charts/traffic-operator/values.yaml', import.meta.url);
/** Read off Node.js 24 in memory cgroups of 128 MiB to 2 GiB. */
const SHARE_OF_LIMIT = 1 / 2;
const LEAST_MIB = 256;

/** What the chart lets the operator have. Throws when its values do not say it in Mi. */
export function chartMemoryLimitMebibytes(): number {
  const { resources } = parse(readFileSync(VALUES, 'utf8')) as { resources: { limits: { memory: string } } };
  const [, mebibytes] = /^(\d+)Mi$/.exec(resources.limits.memory) ?? [];
  if (mebibytes === undefined) throw new Error(`resources.limits.memory=${resources.limits.memory}: must be in Mi`);
  return Number(mebibytes);
}

/**
 * The option for what Node.js takes by itself under the memory limit of the chart, which no process here has: the most
 * that old objects may fill. The less that is, the less V8 lets garbage grow before it collects.
 */
export function chartHeapOption(): string {
  return `--max-old-space-size=${Math.max(LEAST_MIB, chartMemoryLimitMebibytes() * SHARE_OF_LIMIT)}`;
}
