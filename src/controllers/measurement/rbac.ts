import type { V1PolicyRule } from '@kubernetes/client-node';
import {
  CLAIM_NAME,
  CONFIG_NAME,
  EXPORTER_NAME,
  exporterNamespace,
  PROMETHEUS_NAME,
  TARGET_SHARDS,
  targetsName,
} from './names.ts';

/** Rights in two places. */
export interface MeasurementRules {
  /** For a ClusterRole: the exporter's namespace is made by the operator, so no Role can wait for it there. */
  readonly cluster: readonly V1PolicyRule[];
  /** For a Role in the operator's own namespace. */
  readonly own: readonly V1PolicyRule[];
}

/**
 * A `create` by name holds for server-side apply alone, whose request has the name in its path; `list` and `watch` by
 * name hold where the name is the field selector.
 */
const KEEP = ['list', 'watch', 'create', 'patch', 'delete'];
const REMOVE = ['get', 'delete'];

/** The rights that the controller uses, all of them and no others. */
export function controllerRules(namespace: string): MeasurementRules {
  const { cluster, own } = byName(namespace, KEEP);
  return {
    cluster: [...cluster, rule('discovery.k8s.io', ['endpointslices'], ['list', 'watch']), LIST_PODS],
    own: [
      ...own,
      // Pods have names that nobody can know before: Prometheus' are watched by label, the operator's own is read.
      rule('', ['pods'], ['get', 'list', 'watch', 'patch']),
      rule('apps', ['replicasets'], ['get']),
    ],
  };
}

/** The rights that removeMeasurement uses, all of them and no others. */
export function removalRules(namespace: string): MeasurementRules {
  const { cluster, own } = byName(namespace, REMOVE);
  return { cluster: [...cluster, LIST_PODS], own };
}

/** All rights that measuring needs from its beginning to its end, whoever has which. */
export function measurementRules(namespace: string): MeasurementRules {
  const [controller, removal] = [controllerRules(namespace), removalRules(namespace)];
  return { cluster: [...controller.cluster, ...removal.cluster], own: [...controller.own, ...removal.own] };
}

/** A namespace is not taken away while somebody else's pods are in it. */
const LIST_PODS = rule('', ['pods'], ['list']);

/** What is made has a name that is known beforehand. */
function byName(namespace: string, verbs: string[]): MeasurementRules {
  const configMaps = [CONFIG_NAME, ...Array.from({ length: TARGET_SHARDS }, (_, index) => targetsName(index))];
  return {
    cluster: [
      rule('', ['namespaces'], verbs, [exporterNamespace(namespace)]),
      rule('', ['services', 'serviceaccounts'], verbs, [EXPORTER_NAME]),
      rule('apps', ['daemonsets'], verbs, [EXPORTER_NAME]),
    ],
    own: [
      rule('', ['services', 'serviceaccounts'], verbs, [PROMETHEUS_NAME]),
      rule('', ['configmaps'], verbs, configMaps),
      rule('', ['persistentvolumeclaims'], verbs, [CLAIM_NAME]),
      rule('apps', ['deployments'], verbs, [PROMETHEUS_NAME]),
    ],
  };
}

function rule(group: string, resources: string[], verbs: string[], resourceNames?: string[]): V1PolicyRule {
  return { apiGroups: [group], resources, verbs, ...(resourceNames === undefined ? {} : { resourceNames }) };
}
