import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { allComponents, allTargetComponents } from './components/components.ts';
import { defaultMeasurementOptions } from './options.ts';
import { removeMeasurement } from './module.ts';
import { FakeApi } from '../../runtime/testing/fakeApi/fakeApi.ts';

const OPTIONS = defaultMeasurementOptions('op');
OPTIONS.prometheus.volume = { kind: 'claim', size: '10Gi' };
const ALL = [...allComponents(OPTIONS), ...allTargetComponents(OPTIONS)].map(({ object }) => object);
const SETTINGS = { namespace: 'op', logger: pino({ level: 'silent' }) };

function pod(name: string, labels: Record<string, string>): KubeObject {
  return { kind: 'Pod', metadata: { namespace: 'op-node-exporter', name, labels } };
}

const OUR_POD = pod('node-exporter-x', { 'app.kubernetes.io/managed-by': 'traffic-operator' });

describe('removeMeasurement', () => {
  it('removes all objects, the namespace after its objects', async () => {
    const client = new FakeApi(...ALL, OUR_POD);
    expect(await removeMeasurement(client, SETTINGS)).toEqual([]);
    expect([...client.objects.values()]).toEqual([OUR_POD]);
    expect(client.writes.at(-1)).toBe('delete Namespace op-node-exporter');
  });

  it('removes the objects of a stack that no longer runs', async () => {
    const owner = { apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficStack', name: 'default', uid: 'u' };
    const ownerReferences = [{ ...owner, controller: true }];
    const owned = ALL.map((object) => ({ ...object, metadata: { ...object.metadata, ownerReferences } }));
    const client = new FakeApi(...owned, OUR_POD);
    expect(await removeMeasurement(client, SETTINGS)).toEqual([]);
    expect([...client.objects.values()]).toEqual([OUR_POD]);
  });

  it('succeeds if there is nothing to remove', async () => {
    const client = new FakeApi();
    expect(await removeMeasurement(client, SETTINGS)).toEqual([]);
    expect(client.writes).toEqual([]);
  });

  it('keeps a namespace with a foreign pod, and reports it', async () => {
    const client = new FakeApi(...ALL, OUR_POD, pod('debug', {}));
    const left = await removeMeasurement(client, SETTINGS);
    expect(left.map(({ reason, object }) => `${reason} ${object}`)).toEqual([
      'NamespaceKept Namespace op-node-exporter',
    ]);
    expect(client.objects.has('Namespace op-node-exporter')).toBe(true);
  });
});
