import type { V1Deployment, V1Pod } from '@kubernetes/client-node';
import type { TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { NAMESPACE, RELEASE } from '../scenario/install.ts';
import { applyObjects, getObject, kubectl } from '../scenario/kubectl.ts';
import { sampleWatch } from '../scenario/watch.ts';
import { podsOf } from '../scenario/workloads.ts';

const WEBHOOK = `deployment/${RELEASE}-placement`;

/** A Deployment without anything about the operator and without pods, and a TrafficWatch of the same name that refers to it. */
export async function applyWatchedDeployment(name: string, maxBandwidthPercent: string): Promise<void> {
  const { apiVersion, kind, metadata, spec } = sampleWatch(name, maxBandwidthPercent, 0);
  const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
  await applyObjects([
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: spec.deployment },
    { apiVersion, kind, metadata, spec: { maxBandwidthPercent, placement: 'Required', targetRef } },
  ]);
}

/** The reason of the condition InjectionUnavailable of a TrafficWatch. */
export async function injection(name: string): Promise<string | undefined> {
  const { status } = await getObject<TrafficWatch>('trafficwatch', name);
  return findCondition(status?.conditions, 'InjectionUnavailable')?.reason;
}

/** The pods of a Deployment. */
export const deploymentPods = (name: string): Promise<V1Pod[]> =>
  podsOf({ kind: 'Deployment', namespace: 'default', name });

/** Replaces all pods of a Deployment by new ones, so many. */
export async function recreate(name: string, replicas: number, seconds: number): Promise<V1Pod[]> {
  await kubectl('scale', 'deployment', name, '--replicas=0');
  await kubectl('wait', '--for=delete', 'pod', '-l', `app=${name}`, `--timeout=${seconds}s`);
  await kubectl('scale', 'deployment', name, `--replicas=${replicas}`);
  await kubectl('rollout', 'status', `deployment/${name}`, `--timeout=${seconds}s`);
  return deploymentPods(name);
}

/** Scales the webhook, and waits until so many of its pods are ready and no other is left. */
export async function scaleWebhook(replicas: number, seconds: number): Promise<void> {
  await kubectl('scale', WEBHOOK, '-n', NAMESPACE, `--replicas=${replicas}`);
  const ofWebhook = ['-n', NAMESPACE, '-l', 'app.kubernetes.io/component=placement-webhook'];
  if (replicas === 0) await kubectl('wait', '--for=delete', 'pod', ...ofWebhook, `--timeout=${seconds}s`);
  else await kubectl('rollout', 'status', WEBHOOK, '-n', NAMESPACE, `--timeout=${seconds}s`);
}

/** How many pods of the webhook are ready. */
export async function readyWebhooks(): Promise<number> {
  const { status } = await getObject<V1Deployment>('deployment', `${RELEASE}-placement`, '-n', NAMESPACE);
  return status?.readyReplicas ?? 0;
}
