import type { V1ContainerStatus, V1DaemonSet, V1Pod, V1PodCondition } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { missingExporters, STARTING_MS } from './missingExporters.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const LONG_AGO = new Date(NOW - STARTING_MS);
const JUST_NOW = new Date(NOW - STARTING_MS + 1_000);
const NO_PORTS = "0/3 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.";
const HINT =
  '; if another program on the node uses TCP port 9100, choose a port that is free on all nodes: --node-exporter-port, nodeExporter.port in the chart';

function daemonSet(desired: number, ready: number): V1DaemonSet {
  return {
    metadata: { namespace: 'op-node-exporter', name: 'node-exporter' },
    status: { desiredNumberScheduled: desired, numberReady: ready, currentNumberScheduled: 0, numberMisscheduled: 0 },
  };
}

function pod(
  node: string,
  changes: { since?: Date; container?: Partial<V1ContainerStatus>; ready?: boolean } = {},
): V1Pod {
  const { since = LONG_AGO, container, ready = false } = changes;
  const condition: V1PodCondition = { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: since };
  const status = { name: 'node-exporter', image: '', imageID: '', ready, restartCount: 0, ...container };
  return {
    metadata: { name: `node-exporter-${node}`, creationTimestamp: new Date(0) },
    spec: { nodeName: node, containers: [] },
    status: { conditions: [condition], containerStatuses: [status] },
  };
}

function pending(node: string, message: string): V1Pod {
  const scheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } };
  return {
    metadata: { name: `node-exporter-${node}`, creationTimestamp: LONG_AGO },
    spec: { containers: [], affinity: { nodeAffinity } },
    status: { phase: 'Pending', conditions: [scheduled] },
  };
}

const CRASHES: Partial<V1ContainerStatus> = {
  restartCount: 4,
  state: { waiting: { reason: 'CrashLoopBackOff' } },
  lastState: { terminated: { exitCode: 1 } },
};

const NOTHING = {
  daemonSet: daemonSet(3, 1),
  pods: [],
  withoutPodSince: undefined,
  notMeasurable: new Map(),
  port: 9100,
  now: NOW,
};

interface Row {
  why: string;
  daemonSet?: V1DaemonSet | undefined;
  pods: V1Pod[];
  /** After "no node-exporter is ready on "; absent: no problem. */
  message?: string;
}

const rows: Row[] = [
  { why: 'there is no DaemonSet yet', daemonSet: undefined, pods: [pod('a')] },
  { why: 'all exporters are ready', daemonSet: daemonSet(1, 1), pods: [pod('a', { ready: true })] },
  { why: 'a new node has a minute to start its exporter', pods: [pod('a', { since: JUST_NOW })] },
  { why: 'a pod is being deleted, and the next one follows', pods: [leaving(pod('a'))] },
  {
    why: 'another pod uses the port: the scheduler says so for a pod without a node',
    pods: [pending('a', NO_PORTS)],
    message: `a (its port is not free there): not measured${HINT}`,
  },
  {
    why: 'a program outside of Kubernetes uses the port: the exporter keeps terminating at once',
    pods: [pod('a', { container: CRASHES }), pod('b', { ready: true })],
    message: `a (its container ends with code 1): not measured${HINT}`,
  },
  {
    why: 'the exporter has just terminated again and is not in backoff yet',
    pods: [pod('a', { container: { restartCount: 1, state: { terminated: { exitCode: 2 } } } })],
    message: `a (its container ends with code 2): not measured${HINT}`,
  },
  {
    why: 'a failed image pull does not suggest another port',
    pods: [pod('a', { container: { state: { waiting: { reason: 'ImagePullBackOff' } } } })],
    message: 'a (ImagePullBackOff): not measured',
  },
  {
    why: 'a full node does not suggest another port',
    pods: [pending('a', '0/3 nodes are available: 1 Insufficient memory.')],
    message: 'a (Unschedulable): not measured',
  },
  {
    why: 'of many nodes, the first by name are named and the others counted',
    pods: ['f', 'b', 'd', 'a', 'e', 'c', 'g'].map((node) => pod(node)),
    message: 'a (not ready), b (not ready), c (not ready), d (not ready), e (not ready) and 2 more: not measured',
  },
];

describe('missingExporters', () => {
  it.each(rows)('$why', (row) => {
    const known = 'daemonSet' in row ? row.daemonSet : daemonSet(3, 1);
    const problems = missingExporters({ ...NOTHING, daemonSet: known, pods: row.pods });
    const expected = {
      reason: 'ExporterNotReady',
      object: 'DaemonSet op-node-exporter/node-exporter',
      message: `no node-exporter is ready on ${row.message}`,
    };
    expect(problems).toEqual(row.message === undefined ? [] : [expected]);
  });

  it('does not report nodes that cannot be measured, such as a node that is powered off', () => {
    const pods = [pod('a'), pod('off')];
    const of = (...names: string[]): string[] => {
      const notMeasurable = new Map(names.map((name) => [name, {}]));
      return missingExporters({ ...NOTHING, pods, notMeasurable }).map(({ message }) => message);
    };
    expect(of('off')).toEqual(['no node-exporter is ready on a (not ready): not measured']);
    expect(of('a', 'off')).toEqual([]);
  });

  it('counts the nodes without a pod after a minute', () => {
    const since = (withoutPodSince: number): unknown => missingExporters({ ...NOTHING, withoutPodSince });
    expect(since(JUST_NOW.getTime())).toEqual([]);
    expect(since(LONG_AGO.getTime())).toEqual([
      {
        reason: 'ExporterNotCreated',
        object: 'DaemonSet op-node-exporter/node-exporter',
        message:
          'no pod of node-exporter is created for 3 nodes: not measured; kubectl -n op-node-exporter describe daemonset node-exporter shows why, such as a quota or an admission policy',
      },
    ]);
  });
});

function leaving(one: V1Pod): V1Pod {
  return { ...one, metadata: { ...one.metadata, deletionTimestamp: new Date(NOW) } };
}
