import type { V1Pod } from '@kubernetes/client-node';
import { describe, expect, it, vi } from 'vitest';
import { CHANGE_INTERVAL_MS } from '../../src/controllers/measurement/decide/targets.ts';
import { CONFIG_MAPS, DAEMONSETS, ENDPOINT_SLICES, NAMESPACES, PODS } from '../../src/runtime/client/resources.ts';
import { WAIT, useBench } from './measurementBench.ts';
import type { Measurement } from '../../src/controllers/measurement/module.ts';
import { STARTING_MS } from '../../src/controllers/measurement/model/missingExporters.ts';
import { CRASHING, addExporterPod, reportReady } from './measurementPods.ts';

const bench = useBench();
/** A change that waits for the next write takes twice as long. */
const AT_ONCE = { timeout: CHANGE_INTERVAL_MS / 2, interval: 50 };

describe('targets', () => {
  const pod = (): Promise<V1Pod> => bench().client.get(PODS, { namespace: bench().namespace, name: 'prometheus-x' });

  it('are written at once for the first node, and a change of the pod makes the kubelet refresh them', async () => {
    await bench().addPrometheusPod('prometheus-x');
    bench().start();
    await bench().deployed();
    await bench().lookAgain();
    const before = (await pod()).metadata!.annotations;
    await bench().putSlice('a', { one: '10.0.0.1' });
    await vi.waitFor(async () => expect(await bench().targets()).toEqual({ one: '10.0.0.1:9100' }), AT_ONCE);
    await vi.waitFor(async () => expect((await pod()).metadata!.annotations).not.toEqual(before), WAIT);
  });

  it('are written at most once in ten seconds, however many nodes join, and lack none', async () => {
    bench().start();
    await bench().deployed();
    const begun = performance.now();
    await bench().putSlice('a', { 'node-0': '10.0.0.0' });
    await vi.waitFor(async () => expect(await bench().targets()).toEqual({ 'node-0': '10.0.0.0:9100' }), WAIT);
    const isTargets = (write: string): boolean => write.endsWith('/prometheus-targets');
    const before = bench().writes.filter(isTargets).length;
    const join = (node: number): Promise<void> => bench().putSlice(`s-${node}`, { [`node-${node}`]: `10.0.0.${node}` });
    for (let node = 1; node <= 20; node++) await join(node);
    await vi.waitFor(async () => expect(Object.keys(await bench().targets())).toHaveLength(21), WAIT);
    // One, unless twenty nodes took longer than the time between two writes.
    const most = Math.floor((performance.now() - begun) / CHANGE_INTERVAL_MS);
    expect(bench().writes.filter(isTargets).length - before).toBeLessThanOrEqual(most);
  });

  it('may have IPv6 addresses, and are removed with their nodes', async () => {
    bench().start();
    await bench().deployed();
    await bench().putSlice('six', { one: 'fd00::1' }, 'IPv6');
    await vi.waitFor(async () => expect(await bench().targets()).toEqual({ one: '[fd00::1]:9100' }), WAIT);
    await bench().putSlice('six', {}, 'IPv6');
    await vi.waitFor(async () => expect(await bench().targets()).toEqual({}), WAIT);
  });

  it('of the agents are in a ConfigMap of their own, grouped by node, and are removed with the check', async () => {
    const { client, namespace, options } = bench();
    const agentsNamespace = `${namespace}-connectivity`;
    await client.create(NAMESPACES, { metadata: { name: agentsNamespace } });
    const put = (service: string, endpoints: Record<string, string>): Promise<unknown> =>
      client.create(ENDPOINT_SLICES, {
        metadata: {
          namespace: agentsNamespace,
          name: service,
          labels: { 'kubernetes.io/service-name': service },
        },
        addressType: 'IPv4',
        ports: [{ name: 'peer', port: 8082, protocol: 'TCP' }],
        endpoints: Object.entries(endpoints).map(([nodeName, address]) => ({ nodeName, addresses: [address] })),
      });
    const agents = async (): Promise<unknown> => {
      const map = await bench().find(CONFIG_MAPS, { namespace, name: 'prometheus-agent-targets' });
      return map && JSON.parse(map.data!['agents.json']!);
    };
    await bench().addPrometheusPod('prometheus-x');
    bench().start({ ...options, connectivity: true });
    await put('netchecker-agent', { one: '10.244.0.7', two: '10.244.1.7' });
    await put('netchecker-agent-hostnet', { one: '10.0.0.1' });
    await put('other', { three: '10.0.0.3' });
    await vi.waitFor(
      async () =>
        expect(await agents()).toEqual([
          { targets: ['10.244.0.7:8082/Pod', '10.0.0.1:8082/Host'], labels: { node: 'one' } },
          { targets: ['10.244.1.7:8082/Pod'], labels: { node: 'two' } },
        ]),
      WAIT,
    );
    await vi.waitFor(async () => {
      expect((await pod()).metadata!.annotations).toHaveProperty(['traffic.example.com/agent-targets-hash']);
    }, WAIT);
    expect(await bench().targets()).toEqual({});
    await bench().stop();
    bench().start();
    await vi.waitFor(async () => expect(await agents()).toBeUndefined(), WAIT);
  });

  it("also contain the operator's own pods: all pods of the Service that selects this one", async () => {
    const { client, namespace } = bench();
    const put = (service: string, pods: string[], partOf = 'traffic-operator'): Promise<unknown> => {
      const labels = { 'kubernetes.io/service-name': service, 'app.kubernetes.io/part-of': partOf };
      const endpoints = pods.map((name, index) => ({
        addresses: [`10.1.0.${index}`],
        targetRef: { kind: 'Pod', name },
      }));
      const slice = { metadata: { namespace, name: service, labels }, addressType: 'IPv4', endpoints };
      return client.create(ENDPOINT_SLICES, { ...slice, ports: [{ name: 'metrics', port: 8080, protocol: 'TCP' }] });
    };
    await put('any-metrics', ['me', 'my-standby']);
    await put('another', ['x']);
    bench().start(bench().options, { pod: { namespace, name: 'me' } });
    await bench().deployed();
    const ref = { namespace, name: 'prometheus-targets' };
    const file = async (): Promise<unknown> =>
      JSON.parse((await client.get(CONFIG_MAPS, ref)).data!['operator.json'] ?? 'null');
    await vi.waitFor(
      async () =>
        expect(await file()).toEqual([
          { targets: ['10.1.0.0:8080'], labels: { pod: 'me' } },
          { targets: ['10.1.0.1:8080'], labels: { pod: 'my-standby' } },
        ]),
      WAIT,
    );
  });
});

const LONG_AGO = new Date(Date.now() - 2 * STARTING_MS).toISOString();

const exporter = (): { namespace: string; name: string } => ({
  namespace: `${bench().namespace}-node-exporter`,
  name: 'node-exporter',
});

const ready = (is: boolean): object => ({
  conditions: [{ type: 'Ready', status: is ? 'True' : 'False', lastTransitionTime: LONG_AGO }],
});

/** Repeats the check until the report, and the pods that the message names, have reached the controller's caches. */
async function told(measurement: Measurement, reason: string, message: RegExp): Promise<void> {
  await vi.waitFor(async () => {
    await bench().lookAgain();
    expect(measurement.problems()).toMatchObject([{ reason, message: expect.stringMatching(message) as string }]);
  }, WAIT);
}

describe('an exporter that does not start', () => {
  it('is reported with its node, the reason and how to choose another port, until it starts', async () => {
    const measurement = bench().start();
    await bench().deployed();
    const daemonSet = await bench().client.get(DAEMONSETS, exporter());
    const report = (count: number): Promise<void> => reportReady(bench().client, exporter(), count, 2);
    await addExporterPod(bench().client, daemonSet, 'good', ready(true));
    await addExporterPod(bench().client, daemonSet, 'taken', { ...ready(false), ...CRASHING });
    // The age of the pod counts: it is new, so nothing is reported yet.
    await report(1);
    await bench().lookAgain();
    expect(measurement.problems()).toEqual([]);

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * STARTING_MS });
    try {
      await told(
        measurement,
        'ExporterNotReady',
        /ready on taken \(its container ends with code 1\): .* TCP port 9100, .*--node-exporter-port, nodeExporter.port/,
      );
      const [problem, ...others] = measurement.problems();
      expect(others).toEqual([]);
      expect(problem).toMatchObject({ object: `DaemonSet ${exporter().namespace}/node-exporter` });
      await report(2);
      await vi.waitFor(() => expect(measurement.problems()).toEqual([]), WAIT);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('an exporter without pods', () => {
  it('is reported with the number of nodes, until there are pods', async () => {
    const measurement = bench().start();
    await bench().deployed();
    const report = (made: number): Promise<void> => reportReady(bench().client, exporter(), made, 3, made);
    await report(0);
    await bench().lookAgain();
    expect(measurement.problems()).toEqual([]);

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * STARTING_MS });
    try {
      await told(measurement, 'ExporterNotCreated', /for 3 nodes/);
      await report(3);
      await vi.waitFor(() => expect(measurement.problems()).toEqual([]), WAIT);
    } finally {
      vi.useRealTimers();
    }
  });
});
