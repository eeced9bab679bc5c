import { describe, expect, it } from 'vitest';
import type {
  TrafficWeight,
  TrafficWeightSpec,
  TrafficWeightStatus,
} from '../../../api/trafficweight/trafficWeight.ts';
import { rowIdOf, rowsOf } from './backends.ts';

const SPEC = { clusterName: 'a', backend: { dynamodb: { initialWeight: 5 } } };
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

  it('know the last weight that there was, and begin with the initial weight without one', () => {
    expect(only(weight('main'))).toMatchObject({ initialWeight: 5 });
    expect(only(weight('main')).lastWeight).toBeUndefined();
    expect(only(weight('main', undefined, { ...SPEC, backend: { dynamodb: {} } })).initialWeight).toBe(0);
    expect(only(weight('main', { desiredWeight: 75 })).lastWeight).toBe(75);
    expect(only(weight('main'), weight('second', { desiredWeight: 60 })).lastWeight).toBe(60);
    expect(only(weight('main', { currentWeight: 40 })).lastWeight).toBe(40);
  });

  it('may all go to 0 only if each TrafficWeight of the row allows it', () => {
    const allowing = { ...SPEC, backend: { dynamodb: { allowAllZero: true } } };
    expect(only(weight('main', undefined, allowing)).allowAllZero).toBe(true);
    expect(only(weight('main', undefined, allowing), weight('second')).allowAllZero).toBe(false);
  });
});

describe('a row of a cluster', () => {
  const broken = (name: string, clusterName: string) => weight(name, undefined, { clusterName } as never);

  it('may not be told what is in force while a TrafficWeight of the cluster is invalid', () => {
    expect(only(weight('main'), broken('other', 'b')).mayAcknowledge).toBe(true);
    expect(only(weight('main'), broken('other', 'a')).mayAcknowledge).toBe(false);
    expect(only(weight('main'), weight('none', undefined, undefined as never)).mayAcknowledge).toBe(true);
  });

  it('leaves out a TrafficWeight that is being deleted', () => {
    const leaving = weight('leaving');
    leaving.metadata = { ...leaving.metadata, deletionTimestamp: new Date(0) };
    expect(only(weight('main'), leaving).names).toEqual(['main']);
  });
});

it('a query is one row for all that have the same', () => {
  const measured = (fullValue?: string): TrafficWeightSpec => {
    return { clusterName: 'a', backend: { prometheus: { query: 'up', ...(fullValue && { fullValue }) } } };
  };
  const rows = rowsOf(
    [
      weight('one', undefined, measured()),
      weight('two', undefined, measured('1')),
      weight('three', undefined, measured('100')),
    ],
    undefined,
  );
  expect(rows).toMatchObject([
    { names: ['one', 'two'], options: { kind: 'prometheus', query: 'up', fullValue: 1, minChange: 5 } },
    { names: ['three'], options: { fullValue: 100 } },
  ]);
  expect(rows[0]?.lastWeight).toBeUndefined();
});
