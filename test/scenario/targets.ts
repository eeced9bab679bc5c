import type { TrafficWatch } from '../../src/api/trafficwatch/schema.ts';

const APPS = ['Deployment', 'StatefulSet', 'ReplicaSet', 'DaemonSet'];
const BATCH = ['Job', 'CronJob'];

/** One TrafficWatch for each built-in kind of target. None of the targets exists, and no node is written. */
export function watchesOfMissingTargets(): TrafficWatch[] {
  return [
    ...APPS.map((kind) => ({ apiVersion: 'apps/v1', kind })),
    ...BATCH.map((kind) => ({ apiVersion: 'batch/v1', kind })),
  ].map(({ apiVersion, kind }) => ({
    apiVersion: 'traffic.example.com/v1alpha1',
    kind: 'TrafficWatch',
    metadata: { name: `missing-${kind.toLowerCase()}`, namespace: 'default' },
    spec: { maxBandwidthPercent: '50', mode: 'Observe', targetRef: { apiVersion, kind, name: 'missing' } },
  }));
}

/** TrafficWatch name -> why its target is not known. */
export function targetReasons(watches: readonly TrafficWatch[]): (string | undefined)[] {
  return watches.map(({ status }) => status?.conditions?.find(({ type }) => type === 'TargetFound')?.reason);
}
