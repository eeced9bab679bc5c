import { describe, expect, it } from 'vitest';
import { aDeployment, aWatch, KEY } from '../testing/observations.ts';
import { isOwnedBy, renderDeployment } from './deployment.ts';

describe('renderDeployment', () => {
  it('keeps the template, including labels that the selector does not name', () => {
    const { spec } = renderDeployment(aWatch(), KEY);
    expect(spec?.template.metadata?.labels).toEqual({ app: 'web', tier: 'front' });
    expect(spec?.template.spec?.containers).toEqual([{ name: 'web', image: 'web:1' }]);
  });

  it('sets replicas only if the user does: an autoscaler may own them', () => {
    expect(renderDeployment(aWatch(), KEY).spec).not.toHaveProperty('replicas');
    expect(renderDeployment(aWatch({ deployment: { replicas: 0 } }), KEY).spec?.replicas).toBe(0);
  });

  it('schedules by the label key of the nodes, also if spec.label is empty', () => {
    const affinity = renderDeployment(aWatch({ label: '' }), KEY).spec?.template.spec?.affinity;
    expect(JSON.stringify(affinity)).toContain(`{"key":"${KEY}","operator":"NotIn","values":["true"]}`);
  });

  it('has the TrafficWatch as its controller', () => {
    expect(renderDeployment(aWatch(), KEY).metadata?.ownerReferences).toEqual([
      {
        apiVersion: 'traffic.example.com/v1alpha1',
        kind: 'TrafficWatch',
        name: 'web',
        uid: 'uid-web',
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
  });

  it('renders the pod template that PKopel/traffic-operator made, so that taking over restarts no pod', () => {
    const watch = aWatch();
    expect(renderDeployment(watch, KEY).spec?.template).toEqual(aDeployment(watch).spec?.template);
  });

  it('renders the same for Required as for no placement, so that an upgrade restarts no pod', () => {
    expect(renderDeployment(aWatch({ placement: 'Required' }), KEY)).toEqual(renderDeployment(aWatch(), KEY));
  });

  it('adds no requirement for the placement Preferred', () => {
    const affinity = renderDeployment(aWatch({ placement: 'Preferred' }), KEY).spec?.template.spec?.affinity;
    const preference = { matchExpressions: [{ key: KEY, operator: 'NotIn', values: ['true'] }] };
    expect(affinity).toEqual({
      nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }] },
    });
  });

  it('does not change the TrafficWatch that it reads', () => {
    const watch = aWatch();
    const before = structuredClone(watch);
    renderDeployment(watch, KEY);
    expect(watch).toEqual(before);
  });
});

describe('isOwnedBy', () => {
  it('compares UIDs, so that a recreated TrafficWatch does not own the Deployment of the old one', () => {
    const watch = aWatch();
    expect(isOwnedBy(aDeployment(watch), watch)).toBe(true);
    expect(isOwnedBy(aDeployment(watch), aWatch({ metadata: { uid: 'another' } }))).toBe(false);
  });
});
