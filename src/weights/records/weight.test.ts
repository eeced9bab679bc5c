import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endpointsOf } from './endpoint.ts';
import { README_ROWS, README_WITHOUT_TRAFFIC } from './testing/readmeRows.ts';
import { calculationOf, MOST_WEIGHT, readClusterWeight, readShare, weightOf } from './weight.ts';

const weight = (clusterWeight: number, annotation: string | undefined, isReady = true): number => {
  const share = annotation === undefined ? undefined : readShare(annotation);
  if (share !== undefined && 'problem' in share) throw new Error(share.problem);
  return weightOf({ clusterWeight, share: share?.value, isReady });
};

describe('the weight of a host', () => {
  it.each<readonly [string | undefined, number, number]>([
    // The rows of the original's own test: annotation, cluster, weight.
    ['1', 1, 1],
    ['0', 1, 0],
    ['50', 50, 25],
    ['10', 50, 5],
    ['100', 50, 50],
    ['100', 100, 100],
    ['100', 0, 0],
    ['120', 10, 10],
    ['100', 120, 100],
    ['10', 120, 10],
    // The rows of its README's tables.
    ...README_WITHOUT_TRAFFIC.map(([cluster, , annotation, product]) => [annotation, cluster, product] as const),
    ...README_ROWS.flatMap(([, a, b]) => [a, b]).map(
      ([cluster, annotation, product]) => [annotation, cluster, product] as const,
    ),
    // Without an annotation the cluster's weight is not capped at 100.
    [undefined, 255, 255],
    [undefined, 0, 0],
    // In floating point 7 / 100 * 100 is more than 7.
    ['100', 7, 7],
    ['12.5', 80, 10],
    ['0.1', 1, 1],
    // The smallest share that an annotation can have.
    ['0.000000001', 1, 1],
  ])('with annotation %s and cluster weight %i is %i', (annotation, cluster, wanted) => {
    expect(weight(cluster, annotation)).toBe(wanted);
  });

  it.each(README_ROWS)('gives two clusters the traffic that the README says: %s', (_, a, b, percents) => {
    const [first, second] = [a, b].map(([cluster, annotation]) => weight(cluster, annotation)) as [number, number];
    const percentOf = (own: number): number => (100 * own) / (first + second);
    // Weights are rounded up, and the README cuts 66.7 % off: 13 of 51 is 25.5 %.
    for (const [n, own] of [first, second].entries()) {
      expect(Math.abs(percentOf(own) - percents[n]!), `cluster ${n + 1}: ${percentOf(own)} %`).toBeLessThanOrEqual(1);
    }
  });

  it.each(README_WITHOUT_TRAFFIC)(
    'leaves an application without traffic: cluster %i, health check %s, annotation %s',
    (cluster, healthCheck, annotation, product) => {
      const [record] = endpointsOf(
        { host: 'app.example.org' },
        weight(cluster, annotation),
        [{ recordType: 'CNAME', targets: ['lb.example.net'], ttl: undefined }],
        { clusterName: 'cluster-a', healthCheckId: 'abc' },
      );
      // Route 53 does not answer with a weight of 0 while another weight is above 0, nor with a record whose health check fails.
      expect(product === 0 || healthCheck === 'DOWN').toBe(true);
      expect(record?.providerSpecific).toEqual([
        { name: 'aws/weight', value: String(product) },
        { name: 'aws/health-check-id', value: 'abc' },
      ]);
    },
  );

  it.each([
    ['100', 100],
    [undefined, 100],
  ])('is 0 without ready endpoints, with annotation %s', (annotation, cluster) => {
    expect(weight(cluster, annotation, false)).toBe(0);
  });

  it('is an integer from 0 to 255, and 0 only if a factor is', () => {
    const share = fc.option(
      fc.double({ min: 0, max: 200, noNaN: true }).map((n) => n.toFixed(3)),
      { nil: undefined },
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MOST_WEIGHT }), share, fc.boolean(), (cluster, text, isReady) => {
        const found = weight(cluster, text, isReady);
        expect(Number.isInteger(found) && found >= 0 && found <= MOST_WEIGHT).toBe(true);
        expect(found === 0).toBe(!isReady || cluster === 0 || Number(text ?? 1) === 0);
      }),
    );
  });
});

describe('an annotation', () => {
  it.each(['', ' ', '-1', 'NaN', 'Inf', '1e2', '0x10', '50%', '1_0', '5,5', '.5', '5.', '99999999999'])(
    'cannot be %j',
    (text) => {
      expect(readShare(text)).toEqual({
        problem: `${JSON.stringify(text)}: must be a number from 0 to 100, such as "25"; more counts as 100`,
      });
    },
  );
});

it('repeats the beginning of a long annotation', () => {
  const read = readShare('9'.repeat(200_000));
  expect('problem' in read && read.problem).toMatch(/^"9{63}…": must be/);
});

describe('the weight of a cluster', () => {
  it.each([-1, 256, 1.5, NaN, Infinity])('cannot be %d', (value) => {
    expect(readClusterWeight(value)).toEqual({ problem: `${value}: must be an integer from 0 to 255` });
  });

  it.each([0, 1, 100, 255])('can be %i', (value) => expect(readClusterWeight(value)).toEqual({ value }));
});

it.each([
  [{ clusterWeight: 75, share: 40, isReady: true }, '', 'cluster 75 x annotation 40 % x ready = 30'],
  [{ clusterWeight: 75, share: undefined, isReady: true }, '', 'cluster 75 x ready = 75'],
  [{ clusterWeight: 75, share: 40, isReady: false }, '', 'cluster 75 x annotation 40 % x not ready = 0'],
  [{ clusterWeight: 120, share: 10, isReady: true }, '', 'cluster 120 (at most 100) x annotation 10 % x ready = 10'],
  [{ clusterWeight: 20, share: undefined, isReady: true }, ' (ramp to 50)', 'cluster 20 (ramp to 50) x ready = 20'],
])('says how a weight comes about', (factors, step, text) => {
  expect(calculationOf(factors, step)).toBe(text);
});
