import type { V1ConfigMap, V1EndpointSlice, V1Pod } from '@kubernetes/client-node';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { Applier } from '../../runtime/apply/apply.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import type { Target } from './model/discovery.ts';
import { AGENT_TARGETS, FIELD_MANAGER, NODE_TARGETS } from './names.ts';
import { defaultMeasurementOptions } from './options.ts';
import { TargetsPass, agentTargets, nodeTargets, type TargetSource } from './targetsPass.ts';
import { FakeApi } from '../../runtime/testing/fakeApi/fakeApi.ts';

const OPTIONS = defaultMeasurementOptions('op');
const WRITE = 'apply ConfigMap op/prometheus-targets';

let client: FakeApi;
let clock: FakeClock;
let pass: TargetsPass;
let nodes: string[];
let pods: V1Pod[];
let operatorSlices: V1EndpointSlice[];
let used: Target[];
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
  used = [];
  const caches = {
    liveTargets: () => live('prometheus-targets'),
    slices: () => [slice()],
    operatorSlices: () => operatorSlices,
  };
  pass = passOf(nodeTargets({ options: OPTIONS, podName: 'operator-1', caches, used: () => used }));
});

const live = (name: string): (V1ConfigMap | undefined)[] =>
  [name, `${name}-2`].map((each) => client.objects.get(`ConfigMap op/${each}`));

function passOf(source: TargetSource): TargetsPass {
  return new TargetsPass({
    options: OPTIONS,
    source,
    prometheusPods: () => pods,
    client,
    applier: new Applier({ client, fieldManager: FIELD_MANAGER, logger: pino({ level: 'silent' }) }),
    clock,
    onPass: (count, problems) => (seen = { count, problems }),
  });
}

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
    const hash = new RegExp(`"${NODE_TARGETS.annotation}":"(\\w+)"`).exec(patched)![1]!;
    pods = [pod('p', { annotations: { [NODE_TARGETS.annotation]: hash } })];
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

  it('writes the exporters of another owner and its own, and one of them for each node', async () => {
    nodes = ['a', 'b'];
    used = [
      { node: 'b', address: '192.0.2.2:9100' },
      { node: 'c', address: '192.0.2.3:9100' },
    ];
    await pass.run(undefined);
    const { data } = client.objects.get('ConfigMap op/prometheus-targets') as V1ConfigMap;
    expect(JSON.parse(data!['targets.json']!)).toEqual([
      { targets: ['10.0.0.0:9100'], labels: { node: 'a' } },
      { targets: ['192.0.2.2:9100'], labels: { node: 'b' } },
      { targets: ['192.0.2.3:9100'], labels: { node: 'c' } },
    ]);
    expect(seen.count).toBe(3);
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

describe('TargetsPass of the agents', () => {
  const AGENTS = 'apply ConfigMap op/prometheus-agent-targets';
  const agents = (connectivity: boolean): TargetsPass =>
    passOf(
      agentTargets({ connectivity }, { agentSlices: () => slices, liveAgentTargets: () => live(AGENT_TARGETS.name) }),
    );
  let slices: V1EndpointSlice[];
  beforeEach(() => {
    slices = [agentSlice('netchecker-agent', '10.244.0.7')];
  });

  it('has ConfigMaps and an annotation of its own, so that no agent delays a node', async () => {
    pods = [pod('p')];
    await agents(true).run(undefined);
    const first = annotationsIn(client.writes[1]!);
    expect(writes()).toEqual([AGENTS, 'patch Pod op/p']);
    expect((client.objects.get('ConfigMap op/prometheus-agent-targets') as V1ConfigMap).data).toEqual({
      'agents.json': '[\n{"targets":["10.244.0.7:8082/Pod"],"labels":{"node":"a"}}\n]\n',
    });
    nodes = ['a'];
    await pass.run(undefined);
    const second = annotationsIn(client.writes[1]!);
    expect(writes()).toEqual([WRITE, 'patch Pod op/p']);
    pods = [pod('p', { annotations: { ...first, ...second } })];
    await agents(true).run(undefined);
    await pass.run(undefined);
    expect(writes()).toEqual([]);
  });

  it('removes them when the connectivity check is disabled, and writes no annotation without it', async () => {
    await agents(true).run(undefined);
    pods = [pod('p')];
    writes();
    await agents(false).run(undefined);
    expect(writes()).toEqual(['delete ConfigMap op/prometheus-agent-targets']);
    await agents(false).run(undefined);
    expect(writes()).toEqual([]);
  });

  it('reports the nodes whose agents do not fit', async () => {
    const endpoints = Array.from({ length: 12_000 }, (_, n) => ({
      nodeName: `node-${n}.${'x'.repeat(120)}`,
      addresses: [`10.${n >> 8}.${n & 255}.1`],
    }));
    slices = [{ ...agentSlice('netchecker-agent', ''), endpoints }];
    await agents(true).run(undefined);
    expect(seen.problems[0]?.message).toMatch(
      /^\d+ nodes with agents are not scraped: 2 ConfigMaps of targets are full/,
    );
  });
});

/** The annotations that a patch of a pod sets. */
function annotationsIn(write: string): Record<string, string> {
  const { metadata } = JSON.parse(write.slice(write.indexOf('{'))) as {
    metadata: { annotations: Record<string, string> };
  };
  return metadata.annotations;
}

function agentSlice(service: string, address: string): V1EndpointSlice {
  return {
    metadata: { labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    ports: [{ name: 'peer', port: 8082 }],
    endpoints: [{ nodeName: 'a', addresses: [address] }],
  };
}

function pod(name: string, metadata: V1Pod['metadata'] = {}): V1Pod {
  return { metadata: Object.assign({ namespace: 'op', name }, metadata) };
}
