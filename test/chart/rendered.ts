import { expect } from 'vitest';
import { isHook, type Manifest } from '../../scripts/chart/helm.ts';

/** The one object of its kind of the manager, or of the process for DNS weights; of helm's hooks, or of all else. */
export function find(
  objects: readonly Manifest[],
  kind: string,
  hook = false,
  process: 'manager' | 'weights' = 'manager',
): Manifest {
  const found = objects.filter(
    (object) =>
      object.kind === kind &&
      isHook(object) === hook &&
      object.metadata.name.endsWith('-weights') === (process === 'weights'),
  );
  expect(found).toHaveLength(1);
  return found[0]!;
}

export interface PodSpec {
  containers: [{ image: string; args: string[]; volumeMounts?: { name: string; mountPath: string }[] }];
  volumes?: object[];
  topologySpreadConstraints?: { labelSelector: { matchLabels: object } }[];
  [field: string]: unknown;
}

/** The pod of a Deployment or a Job. */
export function podOf(object: Manifest): PodSpec {
  return (object.spec as { template: { spec: PodSpec } }).template.spec;
}
