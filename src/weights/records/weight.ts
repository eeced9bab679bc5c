import { cut } from '../../runtime/controller/conditions.ts';

/** The highest weight of a Route 53 record: ResourceRecordSet.Weight of its API reference. */
export const MOST_WEIGHT = 255;
/** From 100 on, the weight of a cluster counts as 100 % for a share. */
const WHOLE = 100;
/**
 * Decimal places of a product: two from the percent and nine from a share. Further places are floating-point errors, which
 * would be rounded up.
 */
const EXACT_PLACES = 12;

/** A value that can be used, or why it cannot. */
export type Read<T> = { readonly value: T } | { readonly problem: string };

/** Decimal notation. The original also took what Go's ParseFloat takes: NaN, Inf, hexadecimal and underscores. */
const DECIMAL = /^[0-9]{1,9}([.][0-9]{1,9})?$/;
/** Characters of a value that a message repeats: an annotation may have 256 KiB. */
const LONGEST_QUOTE = 64;
const SHARE_FORM = 'must be a number from 0 to 100, such as "25"; more counts as 100';

/**
 * Reads the annotation `<prefix>/traffic-weight`: percent of the cluster's weight that an application takes.
 *
 * | text | value |
 * |---|---|
 * | `0`, `25`, `12.5` | the number |
 * | above 100 | 100, as in the original |
 * | negative, `NaN`, empty, anything else | a problem |
 */
export function readShare(text: string): Read<number> {
  if (!DECIMAL.test(text)) return { problem: `${JSON.stringify(cut(text, LONGEST_QUOTE))}: ${SHARE_FORM}` };
  return { value: Math.min(Number(text), WHOLE) };
}

/** A cluster's weight from a backend: an integer from 0 to 255. Anything else is a problem. */
export function readClusterWeight(value: number): Read<number> {
  if (Number.isInteger(value) && value >= 0 && value <= MOST_WEIGHT) return { value };
  return { problem: `${value}: must be an integer from 0 to ${MOST_WEIGHT}` };
}

/** Number() alone would take an empty text for 0. */
const DIGITS = /^[0-9]{1,3}$/;

/** Returns the weight of a cluster in the text of a backend; undefined if the text is not an integer from 0 to 255. */
export function clusterWeightIn(text: string | undefined): number | undefined {
  const read = text !== undefined && DIGITS.test(text) ? readClusterWeight(Number(text)) : undefined;
  return read !== undefined && 'value' in read ? read.value : undefined;
}

/** The factors of the weight of one host. */
export interface WeightFactors {
  /** Integer, 0 to 255. */
  readonly clusterWeight: number;
  /** Percent, 0 to 100; undefined without an annotation. */
  readonly share: number | undefined;
  /** Whether each Service of the host has a ready endpoint. */
  readonly isReady: boolean;
}

/**
 * Returns the weight of a host's record: an integer from 0 to 255.
 *
 * | ready | annotation | weight |
 * |---|---|---|
 * | no | any | 0 |
 * | yes | none | the cluster's weight |
 * | yes | share | ceil(min(cluster, 100) / 100 x share) |
 *
 * adevinta/k8s-traffic-controller has the same rule in calculateIngressWeight.
 */
export function weightOf({ clusterWeight, share, isReady }: WeightFactors): number {
  if (!isReady) return 0;
  if (share === undefined) return clusterWeight;
  const exact = (Math.min(clusterWeight, WHOLE) * share) / WHOLE;
  return Math.ceil(Number(exact.toFixed(EXACT_PLACES)));
}

/**
 * Returns the calculation of a weight, such as `cluster 75 x annotation 40 % x ready = 30`.
 *
 * @param step text after the cluster's weight, such as ` (ramp to 50)`
 */
export function calculationOf(factors: WeightFactors, step = ''): string {
  const { clusterWeight, share, isReady } = factors;
  const most = share !== undefined && clusterWeight > WHOLE ? ` (at most ${WHOLE})` : '';
  const parts = [
    `cluster ${clusterWeight}${step}${most}`,
    ...(share === undefined ? [] : [`annotation ${share} %`]),
    isReady ? 'ready' : 'not ready',
  ];
  return `${parts.join(' x ')} = ${weightOf(factors)}`;
}
