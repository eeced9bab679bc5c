import type { V1ConfigMap, V1EndpointSlice, V1Pod } from '@kubernetes/client-node';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { Applier } from '../../runtime/apply/apply.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import { FIELD_MANAGER, TARGETS_HASH_ANNOTATION } from './names.ts';
import { defaultMeasurementOptions } from './options.ts';
import { TargetsPass } from './targetsPass.ts';
import type { TargetsPassOptions } from './targetsPass.ts';
import { FakeApi } from '../../runtime/testing/fakeApi/fakeApi.ts';

const WRITE = 'apply ConfigMap op/prometheus-targets';

let client: FakeApi;
let clock: FakeClock;
let pass: TargetsPass;
let nodes: string[];
let pods: V1Pod[];
let operatorSlices: V1EndpointSlice[];
let seen: { count: number; problems: readonly Problem[] };

function slice(): V1EndpointSlice {
  const endpoints = nodes.map((nodeName, index) => ({ nodeName, addresses: [`10.0.${index >> 8}.${index & 255}`] }));
  return { addressType: 'IPv4', ports: [{ name: 'metrics', port: 9100 }], endpoints };
}

/** The writes so far, without the bodies of the patches. */
function writes(): string[] {
  return client.writes.splice(0).map((write) => write.replace(/ \{.*/, ''));
}

beforeEach(() => {
  client = new FakeApi();
  clock = new FakeClock();
  nodes = [];
  pods = [];
  operatorSlices = [];
  const caches: TargetsPassOptions['caches'] = {
    liveTargets: () =>
      ['prometheus-targets', 'prometheus-targets-2'].map((name) => client.objects.get(`ConfigMap op/${name}`)),
    slices: () => [slice()],
    operatorSlices: () => operatorSlices,
    prometheusPods: () => pods,
  };
  pass = new TargetsPass({
    options: defaultMeasurementOptions('op'),
    podName: 'operator-1',
    caches,
    client,
    applier: new Applier({ client, fieldManager: FIELD_MANAGER, logger: pino({ level: 'silent' }) }),
    clock,
    onPass: (count, problems) => (seen = { count, problems }),
  });
});

describe('TargetsPass', () => {
  it('writes the first node at once, even right after a write without nodes', async () => {
    await pass.run(undefined);
    nodes = ['a'];
    await pass.run(undefined);
    expect(writes()).toEqual([WRITE, WRITE]);
    expect(seen).toEqual({ count: 1, problems: [] });
  });

  it('collects changes right after a write, and is requeued at the end of the interval', async () => {
    nodes = ['a'];
    await pass.run(undefined);
    writes();
    nodes = ['a', 'b'];
    await clock.advance(4_000);
    expect(await pass.run(undefined)).toEqual({ requeueAfterMs: 6_000 });
    nodes = ['a', 'b', 'c'];
    await clock.advance(6_000);
    expect(await pass.run(undefined)).toBeUndefined();
    expect(writes()).toEqual([WRITE]);
  });

  it('writes nothing while nothing changes', async () => {
    nodes = ['a'];
    await pass.run(undefined);
    writes();
    await clock.advance(60_000);
    await pass.run(undefined);
    expect(writes()).toEqual([]);
  });

  it('annotates each pod once after the targets, and no pod that is being deleted', async () => {
    pods = [pod('p'), pod('going', { deletionTimestamp: new Date(0) })];
    nodes = ['a'];
    await pass.run(undefined);
    const patched = client.writes[1]!;
    expect(writes()).toEqual([WRITE, 'patch Pod op/p']);
    const hash = new RegExp(`"${TARGETS_HASH_ANNOTATION}":"(\\w+)"`).exec(patched)![1]!;
    pods = [pod('p', { annotations: { [TARGETS_HASH_ANNOTATION]: hash } })];
    await pass.run(undefined);
    expect(writes()).toEqual([]);
  });

  it('does not annotate the pods while the targets wait, or the kubelet would sync too early', async () => {
    nodes = ['a'];
    await pass.run(undefined);
    writes();
    pods = [pod('p')];
    nodes = ['a', 'b'];
    await pass.run(undefined);
    expect(writes()).toEqual([]);
  });

  it('removes the second ConfigMap when one is enough again', async () => {
    nodes = Array.from({ length: 12_000 }, (_, index) => `node-${index}.some-region.compute.internal.example`);
    await pass.run(undefined);
    expect(writes()).toEqual([WRITE, `${WRITE}-2`]);
    nodes = ['a'];
    await clock.advance(10_000);
    await pass.run(undefined);
    expect(writes()).toEqual([WRITE, 'delete ConfigMap op/prometheus-targets-2']);
  });

  it("writes the operator's own pods to the same ConfigMap", async () => {
    operatorSlices = [
      {
        metadata: { labels: { 'kubernetes.io/service-name': 'metrics' } },
        addressType: 'IPv4',
        ports: [{ name: 'metrics', port: 8080 }],
        endpoints: [{ addresses: ['10.1.0.1'], targetRef: { kind: 'Pod', name: 'operator-1' } }],
      },
    ];
    await pass.run(undefined);
    const { data } = client.objects.get('ConfigMap op/prometheus-targets') as V1ConfigMap;
    expect(JSON.parse(data!['operator.json']!)).toEqual([
      { targets: ['10.1.0.1:8080'], labels: { pod: 'operator-1' } },
    ]);
    expect(data!['targets.json']).toBe('[]\n');
  });

  it('reports nodes that do not fit, and ConfigMaps that are not ours', async () => {
    nodes = Array.from({ length: 12_000 }, (_, index) => `node-${index}.${'x'.repeat(120)}`);
    client.objects.set('ConfigMap op/prometheus-targets', {
      metadata: { namespace: 'op', name: 'prometheus-targets' },
    });
    await pass.run(undefined);
    expect(seen.problems.map(({ reason }) => reason)).toEqual(['ForeignObject', 'TargetsOmitted']);
    expect(seen.problems[1]!.message).toMatch(/^\d+ nodes are not scraped: 2 ConfigMaps of targets are full \(node-/);
    expect(writes()).toEqual([`${WRITE}-2`]);
  });
});

function pod(name: string, metadata: V1Pod['metadata'] = {}): V1Pod {
  return { metadata: Object.assign({ namespace: 'op', name }, metadata) };
}
