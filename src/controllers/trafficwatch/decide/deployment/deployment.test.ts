import { describe, expect, it } from 'vitest';
import { aDeployment, aWatch, KEY } from '../../testing/observations.ts';
import { isOwnedBy, renderDeployment } from './deployment.ts';

describe('renderDeployment', () => {
  it('keeps the template as it is, labels beyond the selector included', () => {
    const { spec } = renderDeployment(aWatch(), KEY);
    expect(spec?.template.metadata?.labels).toEqual({ app: 'web', tier: 'front' });
    expect(spec?.template.spec?.containers).toEqual([{ name: 'web', image: 'web:1' }]);
  });

  it('names replicas only where the user does: an autoscaler may own them', () => {
    expect(renderDeployment(aWatch(), KEY).spec).not.toHaveProperty('replicas');
    expect(renderDeployment(aWatch({ deployment: { replicas: 0 } }), KEY).spec?.replicas).toBe(0);
  });

  it('schedules by the key that the nodes carry, also where spec.label is empty', () => {
    const affinity = renderDeployment(aWatch({ label: '' }), KEY).spec?.template.spec?.affinity;
    expect(JSON.stringify(affinity)).toContain(`{"key":"${KEY}","operator":"NotIn","values":["true"]}`);
  });

  it('is owned by the TrafficWatch, as its controller', () => {
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

  it('requires nothing of nodes where fit ones are preferred', () => {
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
  it('goes by UID, so that a TrafficWatch made anew does not take what the old one had', () => {
    const watch = aWatch();
    expect(isOwnedBy(aDeployment(watch), watch)).toBe(true);
    expect(isOwnedBy(aDeployment(watch), aWatch({ metadata: { uid: 'another' } }))).toBe(false);
  });
});
