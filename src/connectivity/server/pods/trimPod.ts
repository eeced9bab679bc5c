import type { V1Pod, V1PodStatus } from '@kubernetes/client-node';

/** Keeps what the server reads of a pod. */
export function trimPod({ apiVersion, kind, metadata, spec, status }: V1Pod): V1Pod {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, creationTimestamp, labels } = metadata ?? {};
  return {
    ...defined({ apiVersion, kind }),
    metadata: {
      ...defined({ name, namespace, uid, resourceVersion, deletionTimestamp, creationTimestamp }),
      ...(labels?.app !== undefined && { labels: { app: labels.app } }),
    },
    spec: { containers: [], ...defined({ nodeName: spec?.nodeName, hostNetwork: spec?.hostNetwork }) },
    status: trimStatus(status),
  };
}

/** Of the containers, since when they run: all that tells of a restart. */
function trimStatus({ phase, podIPs, podIP, containerStatuses }: V1PodStatus = {}): V1PodStatus {
  return {
    ...defined({ phase, podIP, podIPs }),
    ...(containerStatuses && {
      containerStatuses: containerStatuses.map(({ name, state }) => ({
        ...{ name, image: '', imageID: '', ready: false, restartCount: 0 },
        ...(state?.running && { state: { running: state.running } }),
      })),
    }),
  };
}

/** The entries that have a value. */
function defined<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const present = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(present) as { [K in keyof T]?: NonNullable<T[K]> };
}
