import type { V1Pod } from '@kubernetes/client-node';
import { applyObjects, getObject, kubectl } from './kubectl.ts';
import { sampleWatch } from './watch.ts';

/** A StatefulSet without anything about the operator, as from a user's chart. */
export async function applyStatefulSet(name: string, replicas: number): Promise<void> {
  const { selector, template } = sampleWatch(name, '0', replicas).spec.deployment;
  const spec = { serviceName: name, replicas, podManagementPolicy: 'Parallel', selector, template };
  await applyObjects([{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name, namespace: 'default' }, spec }]);
  await kubectl('rollout', 'status', 'statefulset', name, '--timeout=120s');
}

/** A TrafficWatch of the same name that keeps its pods off unfit nodes. */
export async function watchStatefulSet(name: string, maxBandwidthPercent: string): Promise<void> {
  const targetRef = { apiVersion: 'apps/v1', kind: 'StatefulSet', name };
  const { apiVersion, kind, metadata } = sampleWatch(name, maxBandwidthPercent, 0);
  await applyObjects([{ apiVersion, kind, metadata, spec: { maxBandwidthPercent, placement: 'Required', targetRef } }]);
}

/** Restarts its pods one after the other, and waits until all run. */
export async function restartStatefulSet(name: string): Promise<void> {
  await kubectl('rollout', 'restart', 'statefulset', name);
  await kubectl('rollout', 'status', 'statefulset', name, '--timeout=120s');
}

/** The nodes of its pods, by name of the pod. */
export async function nodesOfPods(name: string): Promise<Record<string, string>> {
  const { items } = await getObject<{ items: V1Pod[] }>('pods', '-l', `app=${name}`);
  return Object.fromEntries(items.map(({ metadata, spec }) => [metadata?.name ?? '', spec?.nodeName ?? '']));
}
