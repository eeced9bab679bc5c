import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { measured } from '../harness/measured.ts';
import { addNode, inNode, kubeconfigPath, labDown, labUp, removeNode, shape } from '../lab/lab.ts';
import { applyObjects, getObject, kubectl } from '../scenario/kubectl.ts';
import { hostState, isRunning, labProcesses } from './hostState.ts';
import type { HostState } from './hostState.ts';

const run = promisify(execFile);
const LAB = kubeconfigPath().replace(/\/kubeconfig$/, '');
const HOST = '198.18.0.254';
/** Ms. A pod without a probe is Ready before its server listens, and a busy machine may be slow. */
const DEADLINE = 180_000;

/** What `iperf3 --json` prints. */
interface Measured {
  readonly end: { readonly sum_received?: { readonly bits_per_second: number } };
  readonly error?: string;
}
let before: HostState;

/** A pod that answers HTTP with its name, on a node of choice; its image is on the node or it cannot start. */
function webPod(name: string, node: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'web' } },
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

async function startWebPod(name: string, node: string): Promise<string> {
  await applyObjects([webPod(name, node)]);
  await kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=180s');
  return (await getObject<V1Pod>('pod', name)).status!.podIP!;
}

/** Runs a target as a person would. */
async function make(...args: string[]): Promise<string> {
  return (await run('make', ['--silent', ...args])).stdout.trim();
}

async function nodeNames(): Promise<string[]> {
  return (await getObject<{ items: V1Node[] }>('nodes')).items.map((node) => node.metadata!.name!);
}

beforeAll(async () => {
  await labDown();
  before = hostState();
  await labUp({ nodes: 2 });
});
afterAll(() => labDown());

describe('a running lab', () => {
  it('lets pods and services be reached from the machine itself, since tests ask Prometheus that way', async () => {
    const address = await startWebPod('first', 'node1');
    await applyObjects([webService]);
    await vi.waitFor(async () => expect(await get(`http://${address}`)).toBe('first'), DEADLINE);
    const { spec } = await getObject<{ spec: { clusterIP: string } }>('service', 'web');
    await vi.waitFor(async () => expect(await get(`http://${spec.clusterIP}`)).toBe('first'), DEADLINE);
  });

  it.each(['node1', 'node2'])(
    'resolves and routes a Service for a pod on %s, be its pod there or not',
    async (node) => {
      await startWebPod(`client-${node}`, node);
      await kubectl('label', 'pod', `client-${node}`, 'app-'); // asks, and does not answer for the Service
      const ask = () =>
        kubectl('exec', `client-${node}`, '--', 'timeout', '5', 'wget', '-qO-', 'http://web.default.svc.cluster.local');
      await vi.waitFor(async () => expect((await ask()).trim()).toBe('first'), DEADLINE);
    },
  );

  it('runs kubelets with their defaults, since what depends on them is measured here', async () => {
    const configuration = JSON.parse(await kubectl('get', '--raw', '/api/v1/nodes/node1/proxy/configz')) as {
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
    // On a busy machine, iperf3 may end without a result; then it is asked anew.
    const megabits = (): Promise<number> =>
      vi.waitFor(async () => {
        const printed = await inNode('node2', ['iperf3', '--client', HOST, '--time', '1', '--json']);
        const { end, error } = JSON.parse(printed) as Measured;
        if (end.sum_received === undefined) throw new Error(error ?? 'iperf3 has no result');
        return end.sum_received.bits_per_second / 1e6;
      }, DEADLINE);
    try {
      await megabits();
      await shape('node2', '20mbit');
      expect(await megabits()).toBeLessThan(21);
      await shape('node2', 'off');
      // With the limit it would never get there; on a busy machine one second may not suffice.
      await vi.waitFor(async () => expect(await megabits()).toBeGreaterThan(100), DEADLINE);
    } finally {
      server.kill('SIGKILL');
    }
  });

  it('takes a node more, which has every image and is reached by pods, and lets it go again', async () => {
    const name = await addNode();
    expect(await nodeNames()).toEqual(['node1', 'node2', name]);
    const address = await startWebPod('late', name);
    const ask = () => kubectl('exec', 'client-node1', '--', 'timeout', '5', 'wget', '-qO-', `http://${address}`);
    await vi.waitFor(async () => expect((await ask()).trim()).toBe('late'), DEADLINE);
    await vi.waitFor(async () => {
      const { status } = await getObject<V1Node>('node', name);
      const names = (status?.images ?? []).flatMap((image) => image.names);
      expect(names).toContain('quay.io/prometheus/prometheus:v3.15.0');
    }, DEADLINE);
    await removeNode(name);
    expect(await nodeNames()).toEqual(['node1', 'node2']);
    expect(hostState().networkNamespaces).not.toContain(`lab-${name}`);
  });

  it('is used by make as well', async () => {
    await make('lab-add-node');
    expect(await make('lab-kubectl', 'ARGS=get nodes --output=name')).toBe('node/node1\nnode/node2\nnode/node3');
    await make('lab-remove-node', 'NAME=node3');
    expect(await nodeNames()).toEqual(['node1', 'node2']);
  });

  it('refuses to remove a node that is not there, and names those that are', async () => {
    await expect(removeNode('node7')).rejects.toThrow('node1 node2');
  });
});

describe('the end of a lab', () => {
  it('leaves no process, mount, namespace, device, route, cgroup, file or setting behind', async () => {
    const processes = labProcesses(LAB);
    // Control plane, and a kubelet, containerd and kube-proxy a node; pods and their shims beside them.
    expect(processes.length).toBeGreaterThan(4 + 2 * 3);
    await labDown();
    expect(processes.filter(isRunning)).toEqual([]);
    expect(hostState()).toEqual(before);
  });

  it('can be started again, with nothing built anew, over what is left of one that was killed from outside', async () => {
    await labUp({ nodes: 3 });
    for (const { pid } of labProcesses(LAB)) await run('kill', ['-KILL', String(pid)]).catch(() => undefined);
    expect(hostState()).not.toEqual(before);
    const begin = performance.now();
    const printed = await make('lab-up', 'NODES=3');
    // Under 30 s where nothing else runs: how much longer it takes beside other tests says nothing of the lab.
    measured(`a second lab-up, over what was left, took ${((performance.now() - begin) / 1000).toFixed(0)} s`);
    expect(printed).toContain('3 nodes are Ready');
    expect(printed).not.toMatch(/building|making the image/);
    expect(await nodeNames()).toEqual(['node1', 'node2', 'node3']);
    await make('lab-down');
    expect(hostState()).toEqual(before);
  });

  it('is clean after a start that failed, which says at which step and why', async () => {
    await run('/usr/sbin/ip', ['address', 'add', '198.19.255.1/32', 'dev', 'lo']);
    try {
      const failure = await run('test/lab/up.sh', ['1']).catch((error: unknown) => error as { stderr: string });
      expect(failure.stderr).toContain('failed at: laying out the network');
      expect(failure.stderr).toContain('in use on this machine already');
    } finally {
      await run('/usr/sbin/ip', ['address', 'del', '198.19.255.1/32', 'dev', 'lo']);
    }
    expect(hostState()).toEqual(before);
  });
});
