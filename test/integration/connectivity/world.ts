import type { V1Pod } from '@kubernetes/client-node';
import type { Client } from '../../../src/runtime/client/client.ts';
import { PODS } from '../../../src/runtime/client/resources.ts';
import { freePorts, whenReady } from '../../harness/process.ts';
import { startProgram, type Program } from '../../harness/program.ts';

/** An HTTP response. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Parsed text. */
  json(): unknown;
}

/** A connectivity server. */
export interface ConnectivityServer extends Program {
  readonly port: number;
  ask(path: string, init?: RequestInit): Promise<Answer>;
  /** The value of a series of /metrics; undefined if it is absent. */
  series(name: string): Promise<number | undefined>;
}

/**
 * Starts `connectivity-server` and waits until it answers.
 *
 * @param at the port of an earlier server
 * @param ping its status, for a server that speaks HTTPS
 */
export async function startServer(
  kubeconfig: string,
  args: readonly string[] = [],
  at?: number,
  ping?: () => Promise<number | undefined>,
): Promise<ConnectivityServer> {
  const port = at ?? (await freePorts(1))[0]!;
  const program = await startProgram(
    [
      'connectivity-server',
      `-kubeconfig=${kubeconfig}`,
      `-endpoint=127.0.0.1:${port}`,
      '-check-interval=1',
      '-reportinterval=1',
      ...args,
    ],
    {},
  );
  const ask = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init });
    const text = await response.text();
    return { status: response.status, text, json: () => JSON.parse(text) as unknown };
  };
  const isUp = ping ?? (async () => (await ask('/api/v1/ping')).status);
  await whenReady('connectivity-server', program.running, async () => (await isUp()) === 200);
  const series = async (name: string): Promise<number | undefined> => {
    const line = (await ask('/metrics')).text.split('\n').find((each) => each.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length));
  };
  return { ...program, port, ask, series };
}

/** A connectivity agent. */
export interface ConnectivityAgent extends Program {
  /** Where it answers peers and Prometheus. */
  readonly peerPort: number;
}

/** Starts `connectivity-agent` for a pod, with a port of its own for peers. */
export async function startAgent(
  pod: string,
  node: string,
  port: number,
  args: readonly string[] = [],
): Promise<ConnectivityAgent> {
  const [peerPort] = (await freePorts(1)) as [number];
  const addresses = [`-serverendpoint=localhost:${port}`, `-peer-port=${peerPort}`];
  const program = await startProgram(
    ['connectivity-agent', ...addresses, '-reportinterval', '2', '-logtostderr', '-v', '5', ...args],
    {
      MY_POD_NAME: pod,
      MY_NODE_NAME: node,
    },
  );
  return { ...program, peerPort };
}

/** Creates the pod of an agent, in the phase that a kubelet would report. */
export async function createAgentPod(
  client: Client,
  name: string,
  {
    node = 'n1',
    app = 'netchecker-agent',
    phase = 'Running',
    ip,
  }: { node?: string; app?: string; phase?: string; ip?: string } = {},
): Promise<void> {
  const pod: V1Pod = {
    metadata: { name, namespace: 'default', labels: { app } },
    spec: { nodeName: node, containers: [{ name: 'agent', image: 'agent' }] },
  };
  await client.create(PODS, pod);
  await client.mergePatch(
    PODS,
    { namespace: 'default', name },
    { status: { phase, ...(ip !== undefined && { podIP: ip, podIPs: [{ ip }] }) } },
    { fieldManager: 'test', subresource: 'status' },
  );
}
