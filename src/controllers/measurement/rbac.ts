import { rule, type Rights, type Rule } from '../contract/rights.ts';
import {
  CLAIM_NAME,
  CONFIG_NAME,
  EXPORTER_NAME,
  exporterNamespace,
  PROMETHEUS_NAME,
  TARGET_SHARDS,
  targetsName,
} from './names.ts';

/**
 * A `create` by name holds for server-side apply alone, whose request has the name in its path; `list` and `watch` by
 * name hold where the name is the field selector.
 */
const KEEP = ['list', 'watch', 'create', 'patch', 'delete'];
const REMOVE = ['get', 'delete'];

/** The rights that the controller uses, all of them and no others. */
export function controllerRules(namespace: string): Rights {
  const { cluster, own } = byName(namespace, KEEP);
  return {
    cluster: [...cluster, rule('discovery.k8s.io', ['endpointslices'], ['list', 'watch']), LIST_PODS],
    own: [
      ...own,
      {
        ...rule('', ['pods'], ['get', 'list', 'watch', 'patch']),
        why: "Prometheus' pod is annotated when its targets change; the operator's own pod leads to its Deployment, which owns what is made here.",
      },
      rule('apps', ['replicasets'], ['get']),
    ],
  };
}

/** The rights that removeMeasurement uses, all of them and no others. */
export function removalRules(namespace: string): Rights {
  const { cluster, own } = byName(namespace, REMOVE);
  return { cluster: [...cluster, LIST_PODS], own };
}

const LIST_PODS: Rule = {
  ...rule('', ['pods'], ['list']),
  why: "The exporter's namespace is not deleted while somebody else's pods are in it.",
};

/** What is made has a name that is known beforehand. */
function byName(namespace: string, verbs: string[]): Rights {
  const configMaps = [CONFIG_NAME, ...Array.from({ length: TARGET_SHARDS }, (_, index) => targetsName(index))];
  return {
    cluster: [
      {
        ...rule('', ['namespaces'], verbs, [exporterNamespace(namespace)]),
        why: 'node-exporter lives in a namespace that the operator makes: no Role can wait there, so these rights go by name.',
      },
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
