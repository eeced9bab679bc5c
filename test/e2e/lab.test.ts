import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { getRaw } from '../scenario/api.ts';
import { inNode, removeNode, shape } from '../lab/lab.ts';
import { applyObjects, getObject, kubectl } from '../scenario/kubectl.ts';
import { hostState } from './hostState.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';

/** Tests the features of a lab that no story shows. Its start and end: demo.test.ts. */
const run = promisify(execFile);
const HOST = '198.18.0.254';
/** Ms. A pod without a probe is Ready before its server listens, and a busy machine may be slow. */
const DEADLINE = 180_000;

/** The output of `iperf3 --json`. */
interface Measured {
  readonly end: { readonly sum_received?: { readonly bits_per_second: number } };
  readonly error?: string;
}

/** A pod that answers HTTP with its name, on a node of choice; its image is on the node or it cannot start. */
function webPod(name: string, node: string, labels: Record<string, string> = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels },
    spec: {
      nodeName: node,
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'web',
          image: 'busybox:1.36',
          imagePullPolicy: 'Never',
          command: ['sh', '-c', `mkdir /www && echo ${name} > /www/index.html && exec httpd -f -h /www`],
        },
      ],
    },
  };
}

const webService = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
};

async function get(url: string): Promise<string> {
  return (await (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text()).trim();
}

/** The answer that a pod gets by HTTP. */
async function ask(pod: string, url: string): Promise<string> {
  return (await kubectl('exec', pod, '--', 'timeout', '5', 'wget', '-qO-', url)).trim();
}

async function addressOf(pod: string): Promise<string> {
  await kubectl('wait', '--for=condition=Ready', `pod/${pod}`, '--timeout=180s');
  return (await getObject<V1Pod>('pod', pod)).status!.podIP!;
}

/** Runs a target as a person would. */
async function make(...args: string[]): Promise<string> {
  return (await run('make', ['--silent', ...args])).stdout.trim();
}

beforeAll(async () => {
  await enterLab();
  // The clients do not answer for the Service.
  const clients = ['node1', 'node2'].map((node) => webPod(`client-${node}`, node));
  await applyObjects([webPod('first', 'node1', { app: 'web' }), ...clients, webService]);
}, 900_000);
afterAll(leaveLab);

it('lets pods and services be reached from the machine itself, since tests ask Prometheus that way', async () => {
  const address = await addressOf('first');
  await vi.waitFor(async () => expect(await get(`http://${address}`)).toBe('first'), DEADLINE);
  const { spec } = await getObject<{ spec: { clusterIP: string } }>('service', 'web');
  await vi.waitFor(async () => expect(await get(`http://${spec.clusterIP}`)).toBe('first'), DEADLINE);
});

it.each(['node1', 'node2'])('resolves and routes a Service for a pod on %s, be its pod there or not', async (node) => {
  await addressOf(`client-${node}`);
  await vi.waitFor(
    async () => expect(await ask(`client-${node}`, 'http://web.default.svc.cluster.local')).toBe('first'),
    DEADLINE,
  );
});

it('runs kubelets with their defaults, since what depends on them is measured here', async () => {
  const configuration = JSON.parse(await getRaw('/api/v1/nodes/node1/proxy/configz')) as {
    kubeletconfig: Record<string, unknown>;
  };
  expect(configuration.kubeletconfig).toMatchObject({
    syncFrequency: '1m0s',
    nodeStatusUpdateFrequency: '10s',
    cgroupsPerQOS: true,
    enforceNodeAllocatable: ['pods'],
    configMapAndSecretChangeDetectionStrategy: 'Watch',
    localStorageCapacityIsolation: true,
    maxPods: 110,
  });
});

it('limits what a node sends, and takes the limit away again', async () => {
  const server = execFile('setpriv', ['--pdeathsig', 'KILL', 'iperf3', '--server', '--bind', HOST]);
  // On a busy machine, iperf3 may end without a result; then it is asked again.
  const megabits = (): Promise<number> =>
    vi.waitFor(async () => {
      const printed = await inNode('node2', ['iperf3', '--client', HOST, '--time', '1', '--json']);
      const { end, error } = JSON.parse(printed) as Measured;
      if (end.sum_received === undefined) throw new Error(error ?? 'iperf3 has no result');
      return end.sum_received.bits_per_second / 1e6;
    }, DEADLINE);
  try {
    await shape('node2', '20mbit');
    // Where the server begins late, it counts what the kernel has kept for it as sent within less than the second.
    await vi.waitFor(async () => expect(await megabits()).toBeLessThan(21), DEADLINE);
    await shape('node2', 'off');
    // With the limit it would never get there; on a busy machine one second may not suffice.
    await vi.waitFor(async () => expect(await megabits()).toBeGreaterThan(100), DEADLINE);
  } finally {
    server.kill('SIGKILL');
  }
});

it('takes a node more by make, which has every image and is reached by pods, and lets it go again', async () => {
  const name = await make('lab-add-node');
  const listed = [...NODES, name].map((node) => `node/${node}`).join('\n');
  expect(await make('lab-kubectl', 'ARGS=get nodes --output=name')).toBe(listed);
  await applyObjects([webPod('late', name)]);
  const address = await addressOf('late');
  await vi.waitFor(async () => expect(await ask('client-node1', `http://${address}`)).toBe('late'), DEADLINE);
  await vi.waitFor(async () => {
    const { status } = await getObject<V1Node>('node', name);
    const names = (status?.images ?? []).flatMap((image) => image.names);
    expect(names).toContain('quay.io/prometheus/prometheus:v3.15.0');
  }, DEADLINE);
  await make('lab-remove-node', `NAME=${name}`);
  const { items } = await getObject<{ items: V1Node[] }>('nodes');
  expect(items.map(({ metadata }) => metadata!.name)).toEqual(NODES);
  expect(hostState().networkNamespaces).not.toContain(`lab-${name}`);
});

it('refuses to remove a node that is not there, and names those that are', async () => {
  await expect(removeNode('node7')).rejects.toThrow(NODES.join(' '));
});
