import { describe, expect, it } from 'vitest';
import type { TrafficWeight, TrafficWeightStatus } from '../../../api/trafficweight/trafficWeight.ts';
import { rowIdOf, rowsOf } from './backends.ts';

const SPEC = { clusterName: 'a', backend: { dynamodb: { initialWeight: 5 } } };
const state = (type: string, status: 'True' | 'False') => {
  return { type, status, reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
};
const inForce = (desiredWeight: number, over: TrafficWeightStatus = {}): TrafficWeightStatus => {
  const conditions = [state('Applied', 'True'), state('Observed', 'True')];
  return { observedGeneration: 1, desiredWeight, conditions, ...over };
};
const weight = (name: string, status?: TrafficWeightStatus, spec: TrafficWeight['spec'] = SPEC): TrafficWeight => {
  return { metadata: { name, generation: 1 }, spec, ...(status && { status }) };
};
const only = (...weights: TrafficWeight[]) => {
  const rows = rowsOf(weights, undefined);
  expect(rows).toHaveLength(1);
  return rows[0]!;
};

describe('the rows that TrafficWeights name', () => {
  it('have the table and region of k8s-traffic-controller', () => {
    expect(only(weight('main'))).toMatchObject({
      id: rowIdOf(SPEC, undefined),
      options: { tableName: 'traffic-controller', region: 'eu-west-1', clusterName: 'a' },
      names: ['main'],
    });
  });

  it('are none for a static weight and an invalid spec', () => {
    const fixed = { clusterName: 'a', backend: { static: { weight: 5 } } };
    expect(rowsOf([weight('s', undefined, fixed), weight('i', undefined, { clusterName: 'a' } as never)], 'u')).toEqual(
      [],
    );
    expect(rowIdOf(fixed, undefined)).toBeUndefined();
  });

  it('are one for each table, region, endpoint and cluster', () => {
    const table = { ...SPEC, backend: { dynamodb: { tableName: 'other' } } };
    const region = { ...SPEC, backend: { dynamodb: { region: 'eu-west-2' } } };
    const ids = [SPEC, { ...SPEC, clusterName: 'b' }, table, region].map((spec) => rowIdOf(spec, undefined));
    expect(new Set([...ids, rowIdOf(SPEC, 'http://127.0.0.1:1')]).size).toBe(5);
    expect(rowIdOf({ ...SPEC, backend: { dynamodb: { initialWeight: 9 } } }, undefined)).toBe(ids[0]);
  });

  it('are created with the last weight that there was, before one with the initial weight', () => {
    expect(only(weight('main')).initialWeight).toBe(5);
    expect(only(weight('main', undefined, { ...SPEC, backend: { dynamodb: {} } })).initialWeight).toBe(0);
    expect(only(weight('main', { desiredWeight: 75 })).initialWeight).toBe(75);
    expect(only(weight('main'), weight('second', { desiredWeight: 60 })).initialWeight).toBe(60);
  });
});

describe('the weight in force of a row', () => {
  it.each<[string, (TrafficWeightStatus | undefined)[], number | undefined]>([
    ['one TrafficWeight', [inForce(75)], 75],
    ['one without a status', [undefined], undefined],
    ['one whose spec has changed since', [inForce(75, { observedGeneration: 0 })], undefined],
    ['one that external-dns has not read', [inForce(75, { conditions: [state('Applied', 'True')] })], undefined],
    ['two with the same', [inForce(75), inForce(75)], 75],
    ['two of which one has another weight', [inForce(75), inForce(50)], undefined],
    ['two of which one has none in force', [inForce(75), inForce(75, { conditions: [] })], undefined],
    ['two of which the second is new', [inForce(75), undefined], undefined],
  ])('of %s', (_, statuses, expected) => {
    expect(only(...statuses.map((status, n) => weight(`w${n}`, status))).inForce).toBe(expected);
  });
});
