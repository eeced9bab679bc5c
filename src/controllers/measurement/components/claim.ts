import type { V1PersistentVolumeClaim, V1Volume } from '@kubernetes/client-node';
import { PERSISTENT_VOLUME_CLAIMS } from '../../../runtime/client/resources.ts';
import { CLAIM_NAME } from '../names.ts';
import type { PrometheusOptions, PrometheusVolume } from '../options.ts';
import type { Component, Meta } from './component.ts';

/** Returns the claim for the samples of Prometheus; none for an emptyDir or an existing claim. */
export function claimComponents(volume: PrometheusVolume | undefined, metadata: Meta): Component[] {
  if (volume?.kind !== 'claim') return [];
  const { size, storageClassName } = volume;
  const object: V1PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: {
      // Only one pod uses the claim at a time: the strategy of the Deployment is Recreate.
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: size } },
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  };
  return [{ group: 'claim', resource: PERSISTENT_VOLUME_CLAIMS, object }];
}

/** Renders the volume for samples: a claim, or an emptyDir, which is deleted with the pod. */
export function renderStorage({ volume, storageSize }: PrometheusOptions): Omit<V1Volume, 'name'> {
  if (volume === undefined) return { emptyDir: { sizeLimit: storageSize } };
  return { persistentVolumeClaim: { claimName: volume.kind === 'claim' ? CLAIM_NAME : volume.claimName } };
}
