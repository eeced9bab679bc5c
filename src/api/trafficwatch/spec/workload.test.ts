import { describe, expect, it } from 'vitest';
import { parseTrafficWatchSpec, type TrafficWatch } from '../schema.ts';
import { placementOf } from './placement.ts';

function watch(workload: object): TrafficWatch {
  return { metadata: { name: 'sample', namespace: 'default' }, spec: { maxBandwidthPercent: '60', ...workload } };
}

function problems(workload: object): string[] {
  const parsed = parseTrafficWatchSpec(watch(workload));
  return 'problems' in parsed ? parsed.problems : [];
}

describe('the workload of a TrafficWatch', () => {
  const podSelector = { matchLabels: { app: 'web' } };
  const targetRef = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
  const ONE = 'exactly one of deployment, targetRef and podSelector must be set';
  it.each<[string, object, string]>([
    ['no workload', {}, ONE],
    ['two workloads', { podSelector, targetRef }, ONE],
    ['a target without a name', { targetRef: { ...targetRef, name: '' } }, 'spec.targetRef.name is ""'],
    ['a name with a path', { targetRef: { ...targetRef, name: '../x' } }, 'spec.targetRef.name is "../x"'],
    [
      'an API version with a path',
      { targetRef: { ...targetRef, apiVersion: 'apps/v1/deployments?watch=true&x=' } },
      'must be an API group and version, such as apps/v1',
    ],
    ['a plural for the kind', { targetRef: { ...targetRef, kind: 'statefulsets' } }, 'must be a kind'],
    [
      'a DaemonSet with Required',
      { targetRef: { ...targetRef, kind: 'DaemonSet' }, placement: 'Required' },
      'spec.placement is "Required": must be Preferred for a DaemonSet',
    ],
    [
      'a DaemonSet with AtCreation',
      { targetRef: { ...targetRef, kind: 'DaemonSet' }, placement: 'AtCreation' },
      'spec.placement is "AtCreation": must be Preferred for a DaemonSet',
    ],
    [
      'AtCreation with deployment',
      {
        deployment: { selector: podSelector, template: { metadata: { labels: { app: 'web' } } } },
        placement: 'AtCreation',
      },
      'spec.placement is "AtCreation": must be Required or Preferred with deployment',
    ],
    [
      'In without values',
      { podSelector: { matchExpressions: [{ key: 'app', operator: 'In' }] } },
      'spec.podSelector.matchExpressions.0.values is missing: must have at least one value: the operator is In or NotIn',
    ],
    [
      'another operator',
      { podSelector: { matchExpressions: [{ key: 'app', operator: 'Gt', values: ['1'] }] } },
      'spec.podSelector.matchExpressions.0.operator is "Gt"',
    ],
  ])('rejects %s', (_what, spec, message) => {
    expect(problems(spec).join()).toContain(message);
  });

  it.each([
    { podSelector },
    { podSelector: {} },
    { targetRef },
    { targetRef, placement: 'Required' },
    { podSelector, placement: 'AtCreation' },
  ])('accepts the workload %j, which is Preferred by default', (workload) => {
    const { spec } = watch(workload);
    expect(problems(workload)).toEqual([]);
    expect(placementOf(spec)).toBe('placement' in workload ? workload.placement : 'Preferred');
  });
});
