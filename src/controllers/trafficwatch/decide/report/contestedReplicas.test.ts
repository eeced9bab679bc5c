import { describe, expect, it } from 'vitest';
import { aDeployment, anObservation, aWatch, NOW } from '../../testing/observations.ts';
import { decidePlan } from '../decidePlan.ts';
import { CORRECTED_ANNOTATION } from '../../model/replicas.ts';
import { decideConditions } from './conditions.ts';

describe('ReplicasContested', () => {
  it.each([
    ['kube-controller-manager', undefined, true],
    ['k3s', undefined, false],
    ['k3s', JSON.stringify({ k3s: new Date(NOW - 15_000).toISOString() }), true],
    ['kubectl', undefined, false],
    ['kubectl', JSON.stringify({ kubectl: new Date(NOW - 15_000).toISOString() }), true],
  ])('is the reason for field manager %s, corrected before: %s: %s', (manager, corrected, isContested) => {
    const watch = aWatch({ deployment: { replicas: 3 } });
    const live = aDeployment(watch);
    const fieldsV1 = { 'f:spec': { 'f:replicas': {} } };
    const managedFields = [{ manager, operation: 'Update', subresource: 'scale', fieldsV1 }];
    const annotations: Record<string, string> = corrected === undefined ? {} : { [CORRECTED_ANNOTATION]: corrected };
    const metadata = { ...live.metadata, managedFields, annotations };
    const o = anObservation({ watch, deployment: { metadata, spec: { ...live.spec!, replicas: 5 } } });
    const conditions = decideConditions(o, decidePlan(o), [], new Date(NOW).toISOString());
    const found = conditions.find(({ type }) => type === 'Reconciling');
    expect(found?.reason === 'ReplicasContested').toBe(isContested);
    if (!isContested) return;
    expect(found?.message).toContain(`spec.deployment.replicas is 3, but field manager "${manager}"`);
    expect(found?.message).toContain('"path":"/spec/deployment/replicas"');
    expect(found?.message).toContain('kubectl -n shop scale deployment web --replicas=3');
  });
});
