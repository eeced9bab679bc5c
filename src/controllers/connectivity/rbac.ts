import { CONNECTIVITY_CHECKS } from '../../api/connectivitycheck/connectivityCheck.ts';
import {
  AGENT_NAME,
  agentsNamespaceOf,
  HOST_AGENT_NAME,
  SERVER_CA_NAME,
  SERVER_NAME,
  SERVICE_NAME,
} from '../../connectivity/objects/names.ts';
import { REMOVE_VERBS, rule, type ControllerRights, type Rights, type Rule } from '../contract/rights.ts';

/**
 * Returns exactly the rights that the controller uses. Without `connectivity.enabled` it only finds and deletes what an earlier setting left. It
 * cannot grant rights: the chart gives the server its rights.
 */
export function connectivityRights(namespace: string): ControllerRights {
  const { cluster, own } = byName(namespace, FIND_VERBS, ['get', ...FIND_VERBS]);
  const written = byName(namespace, WRITE_VERBS, WRITE_VERBS);
  return {
    controller: { cluster: [...cluster, LIST_PODS], own },
    cleanup: removalRules(namespace),
    onlyWith: [
      {
        values: ['connectivity'],
        cluster: [
          ...written.cluster,
          {
            ...rule(CONNECTIVITY_CHECKS.group, [CONNECTIVITY_CHECKS.plural], ['list', 'create']),
            why: 'To create the first ConnectivityCheck where there is none. It changes and deletes none.',
          },
        ],
        own: [
          ...written.own,
          {
            ...rule('', ['pods'], ['get']),
            why: "To find the operator's Deployment, the owner of these objects.",
          },
          rule('apps', ['replicasets'], ['get']),
        ],
      },
    ],
  };
}

/** To find and delete objects, limited to their names: see KEEP_VERBS. */
const FIND_VERBS = ['list', 'watch', 'delete'];
const WRITE_VERBS = ['create', 'patch'];

/** Returns exactly the rights that removeConnectivity uses. */
function removalRules(namespace: string): Rights {
  const { cluster, own } = byName(namespace, REMOVE_VERBS, REMOVE_VERBS);
  return { cluster: [...cluster, LIST_PODS], own };
}

const LIST_PODS: Rule = {
  ...rule('', ['pods'], ['list']),
  why: 'To keep the namespace of the agents if it has pods that are not ours.',
};

/**
 * Returns the rights on the objects that the controller and the TrafficStack `default` create, limited to their names.
 *
 * @param verbs for the objects of the controller
 * @param stackVerbs for the objects of the stack
 */
function byName(namespace: string, verbs: string[], stackVerbs: string[]): Rights {
  return {
    cluster: [
      {
        ...rule('', ['namespaces'], verbs, [agentsNamespaceOf(namespace)]),
        why: 'The operator creates the namespace of the agents, so no Role can exist there before. Resource names limit these rights.',
      },
      rule('', ['serviceaccounts'], stackVerbs, [AGENT_NAME]),
      {
        ...rule('', ['configmaps'], verbs, [SERVER_CA_NAME]),
        why: 'The CA of the server, for the agents, with TLS.',
      },
      rule('', ['services'], stackVerbs, [AGENT_NAME, HOST_AGENT_NAME]),
      rule('apps', ['daemonsets'], stackVerbs, [AGENT_NAME, HOST_AGENT_NAME]),
    ],
    own: [
      rule('', ['serviceaccounts'], stackVerbs, [SERVER_NAME]),
      rule('', ['services'], stackVerbs, [SERVICE_NAME]),
      rule('apps', ['deployments'], stackVerbs, [SERVER_NAME]),
    ],
  };
}
