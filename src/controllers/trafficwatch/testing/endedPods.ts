import type { V1Affinity, V1Pod } from '@kubernetes/client-node';
import { KEY, NOW } from './observations.ts';

/** When the pods here ended. */
export const ENDED_AT = NOW - 2000;

export interface PodChanges {
  readonly reason?: string;
  readonly namespace?: string;
  readonly labels?: Record<string, string>;
  /** One for each term of the required affinity. */
  readonly keys?: readonly string[];
  readonly node?: string;
}

/** A pod that requires that none of the keys marks its node as unfit; each key is a term of its own. */
function ended(name: string, changes: PodChanges, status: V1Pod['status']): V1Pod {
  const { namespace = 'shop', labels = { app: 'web' }, keys = [KEY], node = 'n2' } = changes;
  const terms = keys.map((key) => ({ matchExpressions: [{ key, operator: 'NotIn', values: ['true'] }] }));
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
  return {
    metadata: { name, namespace, uid: `uid-${name}`, resourceVersion: '7', labels },
    spec: { nodeName: node, containers: [], affinity: { nodeAffinity: required } },
    status,
  };
}

const readyUntil = (reason: string, at: number) => ({
  type: 'Ready',
  status: 'False',
  reason,
  lastTransitionTime: new Date(at),
});

/** A rejected pod as a kubelet of Kubernetes 1.36 leaves it. */
export function rejectedPod(name: string, changes: PodChanges = {}): V1Pod {
  const { reason = 'NodeAffinity' } = changes;
  const message = "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
  return ended(name, changes, {
    phase: 'Failed',
    reason,
    message,
    conditions: [readyUntil('PodFailed', ENDED_AT)],
  });
}

interface EvictedChanges extends PodChanges {
  readonly phase?: 'Failed' | 'Succeeded';
  readonly affinity?: V1Affinity;
  readonly endedAt?: number;
}

/** An evicted pod as a kubelet of Kubernetes 1.36 leaves it just before it deletes it. */
export function evictedPod(name: string, changes: EvictedChanges = {}): V1Pod {
  const { reason = 'EvictionByEvictionAPI', phase = 'Failed', endedAt = ENDED_AT } = changes;
  const target = { type: 'DisruptionTarget', status: 'True', reason, message: 'Eviction API: evicting' };
  const conditions = [target, readyUntil(phase === 'Failed' ? 'PodFailed' : 'PodCompleted', endedAt)];
  const pod = ended(name, changes, { phase, conditions });
  return changes.affinity === undefined ? pod : { ...pod, spec: { ...pod.spec!, affinity: changes.affinity } };
}
