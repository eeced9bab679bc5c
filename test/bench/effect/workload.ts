import { readFileSync } from 'node:fs';
import type { V1NodeAffinity, V1Pod } from '@kubernetes/client-node';
import { until } from '../../harness/measured.ts';
import { applyObjects, getObject, kubectl } from '../../scenario/kubectl.ts';
import type { Target } from './request.ts';
import { unfitKey } from '../../harness/unfitKey.ts';

/** Its Node.js runs the server; the lab has no image of its own for one. */
const IMAGE = 'docker.io/library/traffic-operator:0.1.0';
const SERVER = readFileSync(new URL('./server.mjs', import.meta.url), 'utf8');
const PORT = 8080;
const ROLLED_WITHIN = { timeout: 120_000, every: 500 };

/**
 * A Deployment as a user's chart would bring it: it knows nothing of the operator.
 *
 * @param notOn a node that its pods must not run on
 */
export async function createWorkload(name: string, replicas: number, notOn?: string): Promise<void> {
  const labels = { app: name };
  const container = {
    name: 'server',
    image: IMAGE,
    imagePullPolicy: 'IfNotPresent',
    command: ['/nodejs/bin/node', '--input-type=module', '--eval', SERVER],
    readinessProbe: { httpGet: { path: '/1', port: PORT }, periodSeconds: 1 },
    resources: { requests: { cpu: '100m', memory: '64Mi' } },
  };
  const affinity = notOn === undefined ? {} : { affinity: { nodeAffinity: keptOff(notOn) } };
  const template = { metadata: { labels }, spec: { containers: [container], ...affinity } };
  const spec = { replicas, selector: { matchLabels: labels }, template };
  await applyObjects([{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace: 'default' }, spec }]);
  await until(`${name} runs`, async () => (await readyPods(name)).length === replicas, ROLLED_WITHIN);
}

function keptOff(node: string): V1NodeAffinity {
  const expression = { key: 'kubernetes.io/hostname', operator: 'NotIn', values: [node] };
  const nodeSelectorTerms = [{ matchExpressions: [expression] }];
  return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
}

/** A TrafficWatch of the same name. It stays when the Deployment is deleted. */
export async function watchWorkload(name: string, placement: string, maxBandwidthPercent: string): Promise<void> {
  const [apiVersion, kind] = ['traffic.example.com/v1alpha1', 'TrafficWatch'];
  const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
  const spec = { maxBandwidthPercent, placement, targetRef };
  await applyObjects([{ apiVersion, kind, metadata: { name, namespace: 'default' }, spec }]);
  await kubectl('wait', '--for=condition=InjectionUnavailable=false', `trafficwatch/${name}`, '--timeout=60s');
}

/** Deletes Deployments, and waits until their pods are gone. */
export async function deleteWorkloads(names: readonly string[]): Promise<void> {
  await kubectl('delete', 'deployment', ...names, '--ignore-not-found');
  for (const name of names) {
    await until(`${name} is gone`, async () => (await podsOf(name)).length === 0, ROLLED_WITHIN);
  }
}

/**
 * Restarts the Deployment once, and waits until its earlier pods are gone.
 *
 * @param onPods called about twice a second with the pods that take requests
 * @returns the new pods
 */
export async function roll(name: string, onPods: (pods: readonly V1Pod[]) => void): Promise<V1Pod[]> {
  const before = new Set((await podsOf(name)).map(({ metadata }) => metadata!.uid!));
  await kubectl('rollout', 'restart', 'deployment', name);
  let pods: V1Pod[] = [];
  const isRolled = async (): Promise<boolean> => {
    pods = await podsOf(name);
    onPods(pods.filter(isReady));
    const areNew = pods.every(({ metadata }) => !before.has(metadata!.uid!));
    return areNew && pods.length === before.size && pods.every(isReady);
  };
  await until(`${name} is rolled`, isRolled, ROLLED_WITHIN);
  return pods;
}

/** @throws if a pod has no affinity to the label of its TrafficWatch: the policy did not apply to it */
export function requireAffinity(name: string, pods: readonly V1Pod[]): void {
  for (const { metadata, spec } of pods) {
    if (!JSON.stringify(spec?.affinity ?? {}).includes(unfitKey(name))) {
      throw new Error(`${metadata!.name!} has no affinity to ${unfitKey(name)}`);
    }
  }
}

export async function readyPods(name: string): Promise<V1Pod[]> {
  return (await podsOf(name)).filter(isReady);
}

export const targetOf = ({ status }: V1Pod): Target => ({ host: status!.podIP!, port: PORT });

async function podsOf(name: string): Promise<V1Pod[]> {
  return (await getObject<{ items: V1Pod[] }>('pods', '-l', `app=${name}`)).items;
}

function isReady({ metadata, status }: V1Pod): boolean {
  const isTrue = (status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
  return isTrue && metadata?.deletionTimestamp === undefined;
}
