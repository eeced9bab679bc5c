import { KEEP_VERBS, REMOVE_VERBS, rule, STACK_VERBS, type Rights, type Rule } from '../contract/rights.ts';
import {
  AGENT_TARGETS,
  CLAIM_NAME,
  CONFIG_NAME,
  EXPORTER_NAME,
  exporterNamespace,
  NODE_TARGETS,
  PROMETHEUS_NAME,
  TARGET_SHARDS,
  targetsName,
} from './names.ts';

/** Returns exactly the rights that the controller uses. */
export function controllerRules(namespace: string): Rights {
  const { cluster, own } = byName(namespace, KEEP_VERBS, STACK_VERBS);
  return {
    cluster: [...cluster, rule('discovery.k8s.io', ['endpointslices'], ['list', 'watch']), FIND_PODS],
    own: [
      ...own,
      {
        ...rule('', ['pods'], ['get', 'list', 'watch', 'patch']),
        why: "To annotate Prometheus' pod when its targets change, and to find the operator's Deployment, the owner of these objects.",
      },
      rule('apps', ['replicasets'], ['get']),
    ],
  };
}

/** Returns exactly the rights that removeMeasurement uses. */
export function removalRules(namespace: string): Rights {
  const { cluster, own } = byName(namespace, REMOVE_VERBS, REMOVE_VERBS);
  return { cluster: [...cluster, LIST_PODS], own };
}

const LIST_PODS: Rule = {
  ...rule('', ['pods'], ['list']),
  why: "To keep the exporter's namespace if it has pods that are not ours.",
};

const FIND_PODS: Rule = {
  ...LIST_PODS,
  why: `${LIST_PODS.why} And to find the pods of an exporter that a TrafficStack uses.`,
};

/**
 * Returns the rights on the objects that the controller and the TrafficStack `default` create, limited to their names.
 *
 * @param verbs for the objects of the controller
 * @param stackVerbs for the objects of the stack
 */
function byName(namespace: string, verbs: string[], stackVerbs: string[]): Rights {
  const shards = Array.from({ length: TARGET_SHARDS }, (_, index) => index);
  const targets = [NODE_TARGETS, AGENT_TARGETS].flatMap((set) => shards.map((index) => targetsName(index, set)));
  return {
    cluster: [
      {
        ...rule('', ['namespaces'], verbs, [exporterNamespace(namespace)]),
        why: 'The operator creates the namespace of node-exporter, so no Role can exist there before. Resource names limit these rights.',
      },
      rule('', ['services', 'serviceaccounts'], stackVerbs, [EXPORTER_NAME]),
      rule('apps', ['daemonsets'], stackVerbs, [EXPORTER_NAME]),
    ],
    own: [
      rule('', ['services', 'serviceaccounts'], stackVerbs, [PROMETHEUS_NAME]),
      rule('', ['configmaps'], stackVerbs, [CONFIG_NAME]),
      rule('', ['configmaps'], verbs, targets),
      rule('', ['persistentvolumeclaims'], verbs, [CLAIM_NAME]),
      rule('apps', ['deployments'], stackVerbs, [PROMETHEUS_NAME]),
    ],
  };
}
