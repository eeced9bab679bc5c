import type { V1Pod } from '@kubernetes/client-node';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PodPlacementEntry, PodPlacementSpec } from '../api/podplacement/schema.ts';
import { MOST_OF_LABEL } from '../controllers/trafficwatch/decide/workload/podPlacement.ts';
import { podTerms, prepare } from './podTerms.ts';
import { patched, placements, pods } from './testing/samples.ts';

const notUnfit = (name: string) => ({
  key: `${name}.space.traffic.example.com/unfit`,
  operator: 'NotIn',
  values: ['true'],
});
const NEW_NODE = { key: 'cluster-autoscaler.kubernetes.io/template-node', operator: 'In', values: ['true'] };
const notNamed = (name: string) => ({ key: 'metadata.name', operator: 'NotIn', values: [name] });
const EXISTS = { key: 'disk', operator: 'Exists' };
const disk = { key: 'disk', operator: 'In', values: ['ssd'] };

const entry = (name: string, over: Partial<PodPlacementEntry> = {}): PodPlacementEntry => ({
  trafficWatch: name,
  labelKey: notUnfit(name).key,
  placement: 'Required',
  podSelector: { matchLabels: { app: 'db' } },
  ...over,
});
const placementOf = (...entries: PodPlacementEntry[]): PodPlacementSpec => ({
  entries,
  byLabel: { 'app=db': entries.map((_each, position) => position) },
});
const pod = (spec: object = {}, metadata: object = {}) =>
  ({ metadata: { labels: { app: 'db' }, ...metadata }, spec }) as V1Pod;
const withTerms = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const withPreferred = (...preferred: object[]) => ({
  affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } },
});
const preferring = (name: string) => ({ weight: 100, preference: { matchExpressions: [notUnfit(name)] } });
const affinityOf = (of: V1Pod, placement: PodPlacementSpec) =>
  patched(of, podTerms(of, prepare(placement))).spec?.affinity?.nodeAffinity;

describe('podTerms', () => {
  it.each<[string, V1Pod, PodPlacementSpec, object[]]>([
    [
      'the term, and its twin for simulated nodes',
      pod(),
      placementOf(entry('db')),
      [
        { matchFields: [], matchExpressions: [notUnfit('db')] },
        { matchFields: [], matchExpressions: [NEW_NODE] },
      ],
    ],
    [
      'all TrafficWatches in each term of the user, whose fields stay',
      pod(withTerms({ matchExpressions: [disk] }, { matchFields: [notNamed('n9')] })),
      placementOf(entry('db'), entry('web')),
      [
        { matchFields: [], matchExpressions: [disk, notUnfit('db'), notUnfit('web')] },
        { matchFields: [notNamed('n9')], matchExpressions: [notUnfit('db'), notUnfit('web')] },
        { matchFields: [], matchExpressions: [disk, NEW_NODE] },
        { matchFields: [notNamed('n9')], matchExpressions: [NEW_NODE] },
      ],
    ],
    [
      'with AtCreation the names, and a twin for nodes that are fit again',
      pod(),
      placementOf(entry('db', { placement: 'AtCreation', avoidedNodes: ['n1', 'n2'] })),
      [
        { matchFields: [notNamed('n1'), notNamed('n2')], matchExpressions: [] },
        { matchFields: [], matchExpressions: [notUnfit('db')] },
      ],
    ],
  ])('requires %s', (_what, given, placement, expected) => {
    expect(affinityOf(given, placement)?.requiredDuringSchedulingIgnoredDuringExecution).toEqual({
      nodeSelectorTerms: expected,
    });
  });

  it('adds the terms of all entries, also if an earlier version of the operator wrote more than this one does', () => {
    const names = Array.from({ length: 3 * MOST_OF_LABEL }, (_each, index) => `w${index}`);
    const placement = placementOf(...names.map((name) => entry(name)));
    expect(affinityOf(pod(), placement)?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]).toEqual({
      matchFields: [],
      matchExpressions: names.map(notUnfit),
    });
  });

  it('selects pods with labels that JavaScript has a meaning for', () => {
    const podSelector = { matchLabels: { constructor: 'a', app: 'db' } };
    const given = pod({}, { labels: JSON.parse('{"constructor":"a","__proto__":"b","app":"db"}') as object });
    expect(podTerms(given, prepare(placementOf(entry('db', { podSelector }))))).toHaveLength(3);
  });

  it('prefers fit nodes after the preferences of the user, and keeps their weights', () => {
    const own = { weight: 7, preference: { matchExpressions: [disk] } };
    const placement = placementOf(entry('db', { placement: 'Preferred' }));
    expect(affinityOf(pod(withPreferred(own)), placement)).toEqual({
      preferredDuringSchedulingIgnoredDuringExecution: [own, preferring('db')],
    });
    expect(podTerms(pod(withPreferred(own, preferring('db'))), prepare(placement))).toEqual([]);
  });

  it.each<[string, V1Pod, PodPlacementSpec]>([
    ['names its node', pod({ nodeName: 'n1' }), placementOf(entry('db'))],
    ['is not selected', pod({}, { labels: { app: 'web' } }), placementOf(entry('db'))],
    ['has no labels', { metadata: {}, spec: {} } as V1Pod, placementOf(entry('db'))],
    [
      'belongs to a DaemonSet',
      pod({}, { ownerReferences: [{ kind: 'DaemonSet', controller: true }] }),
      placementOf(entry('db')),
    ],
    ['would get a key that is no label key', pod(), placementOf(entry('db', { labelKey: 'unfit' }))],
  ])('leaves a pod alone that %s', (_what, given, placement) => {
    expect(podTerms(given, prepare(placement))).toEqual([]);
  });

  it('throws for a pod of another shape', () => {
    const bad = pod(withTerms({ matchExpressions: [{ operator: 'NotIn' }] }));
    expect(() => podTerms(bad, prepare(placementOf(entry('db'))))).toThrow('values');
  });

  it.each<[string, Partial<PodPlacementEntry>]>([
    ['Required', {}],
    ['AtCreation', { placement: 'AtCreation', avoidedNodes: ['n1'] }],
  ])('throws before it makes a patch of many requirements: %s', (_what, over) => {
    const many = pod(withTerms(...Array.from({ length: 999 }, () => ({ matchExpressions: [EXISTS] }))));
    const watches = (count: number) =>
      prepare(placementOf(...Array.from({ length: count }, (_each, index) => entry(`w${index}`, over))));
    const began = process.cpuUsage().user;
    expect(() => podTerms(many, watches(200))).toThrow('more than 5000 in all');
    expect(process.cpuUsage().user - began).toBeLessThan(1_000_000);
    expect(podTerms(many, watches(1))).not.toEqual([]);
  });

  it('adds nothing the second time', () => {
    fc.assert(
      fc.property(pods, placements, (sample, spec) => {
        const placement = prepare(spec);
        const once = patched(sample, podTerms(sample, placement));
        expect(podTerms(once, placement)).toEqual([]);
      }),
      { numRuns: 300, seed: 1 },
    );
  });
});
