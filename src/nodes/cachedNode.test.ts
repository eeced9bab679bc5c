import { describe, expect, it } from 'vitest';
import { labelOf, nodeChanged, trimNode, LabelSets, valueIn } from './cachedNode.ts';

const KEY = 'web.traffic.example.com/unfit';
const full = {
  metadata: {
    name: 'n1',
    uid: 'u',
    resourceVersion: '7',
    creationTimestamp: new Date('2026-01-01T00:00:00Z'),
    labels: { [KEY]: 'true', 'kubernetes.io/hostname': 'host-1', zone: 'a' },
    annotations: { 'traffic.example.com/capacity': '25Gbit', other: 'x' },
    managedFields: [
      { manager: 'mine', fieldsV1: { 'f:metadata': { 'f:labels': { [`f:${KEY}`]: {}, 'f:zone': {} } } } },
      { manager: 'person', fieldsV1: { 'f:metadata': { 'f:labels': { 'f:own.traffic.example.com/unfit': {} } } } },
    ],
  },
  status: {
    addresses: [
      { type: 'InternalIP', address: '198.18.0.11' },
      { type: 'Hostname', address: 'host-1' },
    ],
  },
};

describe('trimNode', () => {
  it('keeps only fields that the operator reads', () => {
    expect(trimNode('mine')(full)).toEqual({
      metadata: { name: 'n1', uid: 'u', resourceVersion: '7' },
      name: 'n1',
      createdAt: Date.parse('2026-01-01T00:00:00Z'),
      labels: { [KEY]: 'true' },
      otherLabels: { keys: ['zone'], values: ['a'] },
      hostname: 'host-1',
      ownedKeys: [KEY],
      capacity: { source: 'Annotation', key: 'traffic.example.com/capacity', text: '25Gbit' },
      addresses: ['host-1', '198.18.0.11'],
    });
  });

  it.each([
    ['True', undefined],
    ['False', Date.parse('2026-01-02T00:00:00Z')],
    ['Unknown', Date.parse('2026-01-02T00:00:00Z')],
  ])('keeps since when a Node is not Ready: its condition is %s', (status, since) => {
    const ready = { type: 'Ready', status, lastTransitionTime: new Date('2026-01-02T00:00:00Z') };
    expect(trimNode('mine')({ ...full, status: { conditions: [ready] } } as object).notReadySince).toBe(since);
  });

  it.each<[string, object, true | undefined]>([
    ['cordoned, as by kubectl drain', { unschedulable: true }, true],
    [
      'marked by cluster-autoscaler',
      { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] },
      true,
    ],
    ['marked by Karpenter', { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] }, true],
    ['marked by Karpenter before 1.0', { taints: [{ key: 'karpenter.sh/disruption', effect: 'NoSchedule' }] }, true],
    ['tainted otherwise', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] }, undefined],
    ['plain', {}, undefined],
  ])('keeps whether somebody empties a Node that is %s', (_, spec, isBeingEmptied) => {
    expect(trimNode('mine')({ ...full, spec } as object).isBeingEmptied).toBe(isBeingEmptied);
  });

  it('shares one object among nodes with equal labels and owners, and no others', () => {
    const trim = trimNode('mine');
    const [one, unfit, other, foreign] = ['false', 'true', 'false', 'true'].map((value, n) => {
      const managedFields = n < 3 ? full.metadata.managedFields : [];
      return trim({ ...full, metadata: { ...full.metadata, name: `n${n}`, labels: { [KEY]: value }, managedFields } });
    });
    expect(other?.labels).toBe(one?.labels);
    expect([one, other, unfit, foreign].map((node) => [node?.labels[KEY], node?.ownedKeys])).toEqual([
      ['false', [KEY]],
      ['false', [KEY]],
      ['true', [KEY]],
      ['true', []],
    ]);
  });

  it('keeps when the field manager last changed something, and no time of others', () => {
    const timed = (...times: (string | undefined)[]) =>
      full.metadata.managedFields.map((entry, n) => ({ ...entry, ...(times[n] && { time: new Date(times[n]) }) }));
    const writtenAt = (managedFields: object[], labels: Record<string, string> = full.metadata.labels) =>
      trimNode('mine')({ ...full, metadata: { ...full.metadata, labels, managedFields } }).writtenAt;
    const [first, second] = ['2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'];
    expect(writtenAt(timed(first, second))).toBe(Date.parse(first));
    expect(writtenAt([...timed(first), ...timed(second)])).toBe(Date.parse(second));
    expect(writtenAt(timed(undefined, second))).toBeUndefined();
    expect(writtenAt(timed(first), { zone: 'a' })).toBeUndefined();
  });

  it('shares the other labels among nodes, whatever their hostname and the labels of the operator', () => {
    const trim = trimNode('mine');
    const labels = full.metadata.labels;
    const [one, other] = [{ ...labels, [KEY]: 'false', 'kubernetes.io/hostname': 'host-2' }, labels].map((each) =>
      trim({ ...full, metadata: { ...full.metadata, labels: each } }),
    );
    expect(other?.otherLabels).toBe(one?.otherLabels);
    expect(['zone', 'kubernetes.io/hostname', KEY, 'none'].map((key) => labelOf(one!, key))).toEqual([
      'a',
      'host-2',
      'false',
      undefined,
    ]);
  });

  it('reads the capacity from the annotation, else from the named label', () => {
    const trim = trimNode('mine', { capacityLabel: 'mbits' });
    const labels = { mbits: '10000' };
    const label = { source: 'Label', key: 'mbits', text: '10000' };
    expect(trim({ metadata: { name: 'n1', labels } }).capacity).toEqual(label);
    expect(trim({ ...full, metadata: { ...full.metadata, labels } }).capacity).toMatchObject({ source: 'Annotation' });
    expect(trim({ metadata: { name: 'n1', labels: { other: '1' } } })).not.toHaveProperty('capacity');
    expect(trimNode('mine')({ metadata: { name: 'n1', labels } })).not.toHaveProperty('capacity');
  });

  it('names the other owner of a label with the suffix of the operator', () => {
    const own = 'own.traffic.example.com/unfit';
    const labels = { ...full.metadata.labels, [own]: 'true' };
    const node = trimNode('mine')({ ...full, metadata: { ...full.metadata, labels } });
    expect(node.otherOwners).toEqual({ [own]: 'person' });
  });

  it('recognizes nodes that cannot be measured by their labels, and shares the reason', () => {
    const trim = trimNode('mine');
    const [one, other] = ['w1', 'w2'].map((name) =>
      trim({ metadata: { name, labels: { 'kubernetes.io/os': 'windows' } } }),
    );
    expect(one?.neverMeasured).toMatchObject({ reason: 'NotMeasurable' });
    expect(other?.neverMeasured).toBe(one?.neverMeasured);
  });

  it('accepts a Node with only metadata', () => {
    expect(trimNode('mine')({ metadata: { name: 'n1' } })).toMatchObject({
      labels: {},
      ownedKeys: [],
      addresses: [],
    });
  });
});

describe('nodeChanged', () => {
  it('ignores a heartbeat, but detects a changed label', () => {
    const node = trimNode('mine')(full);
    expect(nodeChanged(node, { ...node, metadata: { ...node.metadata, resourceVersion: '8' } })).toBe(false);
    expect(nodeChanged(node, { ...node, labels: { [KEY]: 'false' } })).toBe(true);
  });
});

const all = (): boolean => true;

describe('LabelSets', () => {
  it('returns the values of its labels, and undefined for others', () => {
    const set = new LabelSets().of({ zone: 'a', empty: '', out: 'x' }, (key) => key !== 'out');
    expect(['zone', 'empty', 'out', 'constructor'].map((key) => valueIn(set, key))).toEqual([
      'a',
      '',
      undefined,
      undefined,
    ]);
  });

  it('shares one set among nodes with equal labels, and no others', () => {
    const sets = new LabelSets();
    const one = sets.of({ zone: 'a', pool: 'x' }, all);
    expect(sets.of({ zone: 'a', pool: 'x' }, all)).toBe(one);
    const other = sets.of({ zone: 'b', pool: 'x' }, all);
    expect([valueIn(one, 'zone'), valueIn(other, 'zone')]).toEqual(['a', 'b']);
    expect(other.keys).toBe(one.keys);
  });

  it('is right about a set whose keys and values are another set’s when written one after the other', () => {
    const sets = new LabelSets();
    const [one, other] = [sets.of({ a: 'b c' }, all), sets.of({ a: 'b', c: '' }, all)];
    expect([valueIn(one, 'a'), valueIn(other, 'a'), valueIn(other, 'c')]).toEqual(['b c', 'b', '']);
  });
});
