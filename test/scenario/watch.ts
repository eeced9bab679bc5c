import type { V1Node, V1Pod } from '@kubernetes/client-node';
import type { TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { applyObjects, getObject } from './kubectl.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** Pods that use few resources: the test is about their placement. */
export function sampleWatch(name: string, maxBandwidthPercent: string, replicas: number) {
  const container = {
    name: 'web',
    image: 'docker.io/library/busybox:1.36',
    imagePullPolicy: 'IfNotPresent',
    command: ['httpd', '-f', '-p', '8080'],
    resources: { requests: { cpu: '5m', memory: '8Mi' } },
  };
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers: [container] } };
  return {
    apiVersion: 'traffic.example.com/v1alpha1',
    kind: 'TrafficWatch',
    metadata: { name, namespace: 'default' },
    spec: { maxBandwidthPercent, deployment: { replicas, selector: { matchLabels: labels }, template } },
  };
}

export async function applyWatch(name: string, maxBandwidthPercent: string, replicas: number): Promise<void> {
  await applyObjects([sampleWatch(name, maxBandwidthPercent, replicas)]);
}

/** One node as a user sees it. */
export interface NodeRow {
  readonly node: string;
  /** '' if unknown. */
  readonly percent: string;
  readonly verdict: string;
  /** '' if the node does not have the label. */
  readonly label: string;
  /** Names of the watch's running pods. */
  readonly pods: readonly string[];
}

/** One row for each node, sorted by name: status of the watch, label of the node, pods on it. */
export async function nodeRows(name: string): Promise<NodeRow[]> {
  const [watch, nodes, pods] = await Promise.all([
    getObject<TrafficWatch>('trafficwatch', name),
    getObject<{ items: V1Node[] }>('nodes'),
    getObject<{ items: V1Pod[] }>('pods', '-l', `app=${name}`),
  ]);
  const label = unfitKey(name);
  const names = nodes.items.map((n) => n.metadata?.name ?? '').sort();
  return names.map((node) => {
    const status = watch.status?.nodes?.[node];
    return {
      node,
      percent: status?.currentBandwidthPercent ?? '',
      verdict: status?.verdict ?? '',
      label: nodes.items.find((n) => n.metadata?.name === node)?.metadata?.labels?.[label] ?? '',
      pods: podsOn(pods.items, node),
    };
  });
}

/** Uids of the watch's running pods, sorted. Equal uids later mean that no pod was replaced. */
export async function podUids(watch: string): Promise<string[]> {
  const { items } = await getObject<{ items: V1Pod[] }>('pods', '-l', `app=${watch}`);
  return items
    .filter(runs)
    .map(({ metadata }) => metadata!.uid!)
    .sort();
}

const runs = ({ metadata, status }: V1Pod): boolean => status?.phase === 'Running' && !metadata?.deletionTimestamp;

function podsOn(pods: readonly V1Pod[], node: string): string[] {
  return pods
    .filter((p) => p.spec?.nodeName === node && runs(p))
    .map((p) => p.metadata?.name ?? '')
    .sort();
}
