import type { V1Container, V1PodSpec } from '@kubernetes/client-node';

/** The constraints of an SCC for a pod: the fields of the API that the SCCs here set. */
export interface Constraints {
  allowHostNetwork: boolean;
  allowHostPorts: boolean;
  allowHostPID: boolean;
  allowHostIPC: boolean;
  allowHostDirVolumePlugin: boolean;
  allowPrivilegedContainer: boolean;
  allowPrivilegeEscalation: boolean;
  allowedCapabilities: string[];
  requiredDropCapabilities: string[];
  readOnlyRootFilesystem: boolean;
  seccompProfiles: string[];
  volumes: string[];
}

const NOTHING_OF_THE_HOST = {
  allowHostNetwork: false,
  allowHostPorts: false,
  allowHostPID: false,
  allowHostIPC: false,
  allowHostDirVolumePlugin: false,
};

/**
 * The SCC that every pod of OpenShift may use, from bindata/bootkube/scc-manifests/ of
 * github.com/openshift/cluster-kube-apiserver-operator. The namespace has the IDs and SELinux labels.
 */
export const RESTRICTED_V2: Constraints = {
  ...NOTHING_OF_THE_HOST,
  allowPrivilegedContainer: false,
  allowPrivilegeEscalation: false,
  allowedCapabilities: ['NET_BIND_SERVICE'],
  requiredDropCapabilities: ['ALL'],
  readOnlyRootFilesystem: false,
  seccompProfiles: ['runtime/default'],
  volumes: ['configMap', 'downwardAPI', 'emptyDir', 'persistentVolumeClaim', 'projected', 'secret'],
};

/** The same with the network of the node, from the same place. */
export const HOSTNETWORK_V2: Constraints = { ...RESTRICTED_V2, allowHostNetwork: true, allowHostPorts: true };

/** The constraints that allow what the pod uses, and nothing else. */
export function usedBy(pod: V1PodSpec): Constraints {
  const { hostNetwork = false, hostPID = false, hostIPC = false, volumes = [] } = pod;
  const containers = [...(pod.initContainers ?? []), ...pod.containers];
  const contexts = containers.map(({ securityContext }) => securityContext ?? {});
  const types = volumes.map((volume) =>
    Object.keys(volume)
      .filter((key) => key !== 'name')
      .join(),
  );
  return {
    allowHostNetwork: hostNetwork,
    allowHostPorts: containers.some((container) => hasHostPort(container, hostNetwork)),
    allowHostPID: hostPID,
    allowHostIPC: hostIPC,
    allowHostDirVolumePlugin: types.includes('hostPath'),
    allowPrivilegedContainer: contexts.some(({ privileged }) => privileged === true),
    allowPrivilegeEscalation: contexts.some(({ allowPrivilegeEscalation }) => allowPrivilegeEscalation !== false),
    allowedCapabilities: contexts.flatMap(({ capabilities }) => capabilities?.add ?? []),
    requiredDropCapabilities: [...new Set(contexts.map(({ capabilities }) => (capabilities?.drop ?? []).join()))],
    readOnlyRootFilesystem: contexts.every(({ readOnlyRootFilesystem }) => readOnlyRootFilesystem === true),
    seccompProfiles: [PROFILES[pod.securityContext?.seccompProfile?.type ?? ''] ?? 'none'],
    volumes: types.length === 0 ? ['none'] : [...new Set(types)].sort(),
  };
}

const PROFILES: Readonly<Record<string, string>> = { RuntimeDefault: 'runtime/default' };

/** In the network of its node, the API server makes each port of a container a port of the node. */
function hasHostPort({ ports = [] }: V1Container, hostNetwork: boolean): boolean {
  return ports.some(({ hostPort }) => hostNetwork || hostPort !== undefined);
}

/** IDs that a pod asks for. SCCs that assign the IDs of the namespace refuse any other. */
export function fixedIds(pod: V1PodSpec): string[] {
  const contexts = [pod.securityContext ?? {}, ...pod.containers.map(({ securityContext }) => securityContext ?? {})];
  return contexts
    .flatMap(Object.keys)
    .filter((field) => /^(runAs(User|Group)|fsGroup|supplementalGroups)$/.test(field));
}

/** The fields of an SCC for which it refuses a pod with fields of its own; none if it accepts the pod. */
export function refusals(pod: V1PodSpec, scc: Constraints): string[] {
  const used = usedBy(pod);
  const flags = Object.entries(used).filter(([name, value]) => name.startsWith('allow') && value === true);
  const lists = (['allowedCapabilities', 'volumes', 'seccompProfiles'] as const).filter((name) =>
    used[name].some((each) => each !== 'none' && !scc[name].includes(each)),
  );
  return [
    ...flags.map(([name]) => name).filter((name) => scc[name as keyof Constraints] !== true),
    ...lists,
    ...(scc.readOnlyRootFilesystem && !used.readOnlyRootFilesystem ? ['readOnlyRootFilesystem'] : []),
    ...fixedIds(pod),
  ];
}
