import type { V1Deployment } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { aDeployment, aWatch } from '../../testing/observations.ts';
import { contestedReplicas, OVERRULED_ANNOTATION, withoutReplicas, withScalersOnly } from './replicas.ts';

interface Described {
  manager?: string;
  subresource?: string;
  overruled?: string;
}

function scaledBy({ manager = 'kube-controller-manager', subresource = 'scale', overruled }: Described): V1Deployment {
  const live = aDeployment(aWatch());
  const fieldsV1 = { 'f:spec': { 'f:replicas': {} } };
  const managedFields = [
    { manager: 'traffic-operator-trafficwatch', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:template': {} } } },
    { manager: 'kube-controller-manager', operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': {} } },
    { manager, operation: 'Update', subresource, fieldsV1 },
  ];
  const annotations: Record<string, string> = overruled === undefined ? {} : { [OVERRULED_ANNOTATION]: overruled };
  return { ...live, metadata: { ...live.metadata, managedFields, annotations } };
}

const HPA = { wanted: 3, by: 'kube-controller-manager' };

describe('replicas', () => {
  it.each([
    { why: 'are not contested without a Deployment', wanted: 3, live: undefined, contested: undefined },
    { why: 'are the autoscaler’s if the spec has none', wanted: undefined, live: scaledBy({}), contested: undefined },
    { why: 'are the autoscaler’s if the spec has null', wanted: null, live: scaledBy({}), contested: undefined },
    {
      why: 'are the spec’s after kubectl scale',
      wanted: 3,
      live: scaledBy({ manager: 'kubectl' }),
      contested: undefined,
    },
    {
      why: 'are the spec’s after an edit by any other client',
      wanted: 3,
      live: scaledBy({ subresource: '' }),
      contested: undefined,
    },
    { why: 'are contested if an autoscaler sets them', wanted: 3, live: scaledBy({}), contested: HPA },
    {
      why: 'stay contested after the annotation was written',
      wanted: 3,
      live: scaledBy({ overruled: '3' }),
      contested: HPA,
    },
    {
      why: 'are the spec’s once more after a person changes the count in the spec',
      wanted: 3,
      live: scaledBy({ overruled: '2' }),
      contested: undefined,
    },
    { why: 'are contested also if the spec wants 0', wanted: 0, live: scaledBy({}), contested: { ...HPA, wanted: 0 } },
  ])('$why', ({ wanted, live, contested }) => {
    expect(contestedReplicas(wanted, live)).toEqual(contested);
  });

  it('are contested also with the managedFields that the cache keeps', () => {
    const kept = withScalersOnly(structuredClone(scaledBy({})));
    expect(kept.metadata?.managedFields?.map(({ subresource }) => subresource)).toEqual(['scale']);
    expect(contestedReplicas(3, kept)).toEqual(HPA);
    const others = structuredClone(scaledBy({ subresource: '' }));
    expect(withScalersOnly(others).metadata).not.toHaveProperty('managedFields');
  });

  it('are not applied while contested', () => {
    const desired = aDeployment(aWatch({ deployment: { replicas: 3 } }));
    const { spec, metadata } = withoutReplicas(desired, HPA);
    expect(spec).not.toHaveProperty('replicas');
    expect(spec?.template).toEqual(desired.spec?.template);
    expect(metadata?.annotations).toEqual({ [OVERRULED_ANNOTATION]: '3' });
  });
});
