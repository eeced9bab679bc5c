import type { V1Deployment, V1ManagedFieldsEntry } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { aDeployment, aWatch, NOW } from '../testing/observations.ts';
import { CORRECTED_ANNOTATION, decideReplicas, OVERRULED_ANNOTATION, withScalersOnly } from './replicas.ts';

interface Described {
  count?: number;
  manager?: string;
  subresource?: string;
  overruled?: string;
  corrected?: string;
}

const scaling = (manager: string, subresource = 'scale'): V1ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  subresource,
  fieldsV1: { 'f:spec': { 'f:replicas': {} } },
});

function scaledBy({ count = 5, manager = 'kube-controller-manager', subresource, ...o }: Described): V1Deployment {
  const live = aDeployment(aWatch());
  const managedFields = [
    { manager: 'traffic-operator-trafficwatch', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:template': {} } } },
    { manager: 'kube-controller-manager', operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': {} } },
    scaling(manager, subresource),
  ];
  const annotations: Record<string, string> = {
    ...(o.overruled === undefined ? {} : { [OVERRULED_ANNOTATION]: o.overruled }),
    ...(o.corrected === undefined ? {} : { [CORRECTED_ANNOTATION]: o.corrected }),
  };
  return {
    ...live,
    metadata: { ...live.metadata, managedFields, annotations },
    spec: { ...live.spec!, replicas: count },
  };
}

const MINUTE = 60_000;
const correctedAgo = (ms: number, manager = 'k3s'): string =>
  JSON.stringify({ [manager]: new Date(NOW - ms).toISOString() });
const desiring = (replicas: number | null | undefined): V1Deployment =>
  aDeployment(aWatch({ deployment: replicas === undefined ? {} : { replicas } }));

const HPA = { wanted: 3, by: 'kube-controller-manager' };
const K3S = { wanted: 3, by: 'k3s' };

describe('replicas', () => {
  it.each<{ why: string; wanted?: number | null; live: Described; contested?: typeof HPA | undefined }>([
    { why: 'are the autoscaler’s if the spec has none', wanted: undefined, live: {} },
    { why: 'are the autoscaler’s if the spec has null', wanted: null, live: {} },
    { why: 'are the spec’s after kubectl scale', live: { manager: 'kubectl' } },
    { why: 'are the spec’s after an edit by any other client', live: { subresource: '' } },
    { why: 'are contested if an autoscaler sets them', live: {}, contested: HPA },
    { why: 'stay contested after the annotation was written', live: { overruled: '3' }, contested: HPA },
    { why: 'are the spec’s once more after a person changes the count in the spec', live: { overruled: '2' } },
    { why: 'are contested also if the spec wants 0', wanted: 0, live: {}, contested: { ...HPA, wanted: 0 } },
    { why: 'are the spec’s after the first write of k3s', live: { manager: 'k3s' } },
    ...[
      correctedAgo(-2 * MINUTE),
      '{"k3s":{"toString":1,"valueOf":1}}',
      '{"k3s":1e15}',
      '{"k3s":"soon"}',
      '[]',
      '7',
    ].map((corrected) => ({
      why: `are the spec’s if another client has written the annotation: ${corrected}`,
      live: { manager: 'k3s', corrected },
    })),
    {
      why: 'are the spec’s after the first write of a client with the name of a property of objects',
      live: { manager: 'constructor', overruled: '3', corrected: '{}' },
    },
    {
      why: 'are contested after the second write of k3s',
      live: { manager: 'k3s', corrected: correctedAgo(MINUTE) },
      contested: K3S,
    },
    {
      why: 'are contested after a repeated kubectl scale',
      live: { manager: 'kubectl', corrected: correctedAgo(MINUTE, 'kubectl') },
      contested: { wanted: 3, by: 'kubectl' },
    },
    {
      why: 'are the spec’s after kubectl scale on two days',
      live: { manager: 'kubectl', corrected: correctedAgo(1440 * MINUTE, 'kubectl') },
    },
    {
      why: 'are the spec’s after a first write of a client, whatever another did',
      live: { manager: 'kubectl', corrected: correctedAgo(MINUTE) },
    },
    {
      why: 'stay contested for days',
      live: { manager: 'k3s', overruled: '3', corrected: correctedAgo(9999 * MINUTE) },
      contested: K3S,
    },
    {
      why: 'are the spec’s once more after a person changes the count, with k3s too',
      live: { manager: 'k3s', overruled: '2', corrected: correctedAgo(MINUTE) },
    },
    {
      why: 'are the spec’s after a person scales where an autoscaler was',
      live: { manager: 'kubectl', overruled: '3', corrected: correctedAgo(MINUTE) },
    },
    {
      why: 'are the spec’s if a client that repeats itself sets the same count',
      live: { count: 3, manager: 'kubectl', overruled: '3', corrected: correctedAgo(MINUTE, 'kubectl') },
    },
    {
      why: 'are the spec’s if the annotation is no JSON',
      live: { manager: 'k3s', corrected: 'k3s' },
    },
  ])('$why', ({ live, contested, ...o }) => {
    expect(decideReplicas(desiring('wanted' in o ? o.wanted : 3), scaledBy(live), NOW).contested).toEqual(contested);
  });

  it.each(['k3s', 'kubelite', 'keda', 'an-autoscaler', 'kubectl'])(
    'are given up after one correction if %s keeps setting them, and again after each change of the spec',
    (manager) => {
      let live: V1Deployment = { ...scaledBy({ manager }), metadata: { name: 'web', managedFields: [] } };
      const counts: (number | undefined)[] = [];
      // Every 15 s the autoscaler sets 5, and the operator answers. After ten days the spec has another count.
      for (let n = 0; n < 60; n++) {
        const now = NOW + n * 15_000 + (n < 30 ? 0 : 240 * 60 * MINUTE);
        const scaled = { ...live, metadata: { ...live.metadata, managedFields: [scaling(manager)] } };
        const { desired } = decideReplicas(
          desiring(n < 30 ? 3 : 4),
          { ...scaled, spec: { ...live.spec!, replicas: 5 } },
          now,
        );
        const replicas = desired.spec?.replicas;
        counts.push(replicas);
        const managedFields = replicas === undefined ? [scaling(manager)] : [];
        live = { ...desired, metadata: { ...desired.metadata, managedFields } };
      }
      expect(counts.slice(0, 30)).toEqual([3, ...Array.from({ length: 29 }, () => undefined)]);
      expect(counts.slice(30)).toEqual([4, ...Array.from({ length: 29 }, () => undefined)]);
    },
  );

  it('are given up to two clients that take turns', () => {
    const both = JSON.stringify({ k3s: new Date(NOW).toISOString(), keda: new Date(NOW - MINUTE).toISOString() });
    for (const manager of ['k3s', 'keda']) {
      expect(decideReplicas(desiring(3), scaledBy({ manager, corrected: both }), NOW).contested?.by).toBe(manager);
    }
    const first = decideReplicas(desiring(3), scaledBy({ manager: 'keda', corrected: correctedAgo(MINUTE) }), NOW);
    expect(JSON.parse(first.desired.metadata?.annotations?.[CORRECTED_ANNOTATION] ?? '')).toEqual({
      keda: new Date(NOW).toISOString(),
      k3s: new Date(NOW - MINUTE).toISOString(),
    });
  });

  it('are contested also with the managedFields that the cache keeps', () => {
    const kept = withScalersOnly(structuredClone(scaledBy({})));
    expect(kept.metadata?.managedFields?.map(({ subresource }) => subresource)).toEqual(['scale']);
    expect(decideReplicas(desiring(3), kept, NOW).contested).toEqual(HPA);
    const others = structuredClone(scaledBy({ subresource: '' }));
    expect(withScalersOnly(others).metadata).not.toHaveProperty('managedFields');
  });

  it('are not applied while contested', () => {
    const { spec, metadata } = decideReplicas(desiring(3), scaledBy({}), NOW).desired;
    expect(spec).not.toHaveProperty('replicas');
    expect(spec?.template).toEqual(desiring(3).spec?.template);
    expect(metadata?.annotations).toEqual({ [OVERRULED_ANNOTATION]: '3' });
  });

  it('cause no write after a correction', () => {
    const corrected = correctedAgo(MINUTE);
    const live = withScalersOnly({ ...scaledBy({ count: 3, subresource: '', corrected }) });
    const annotations = { [CORRECTED_ANNOTATION]: corrected };
    expect(decideReplicas(desiring(3), live, NOW).desired.metadata?.annotations).toEqual(annotations);
    expect(decideReplicas(desiring(undefined), live, NOW).desired.metadata).not.toHaveProperty('annotations');
  });
});
