import { TRAFFIC_STACKS } from '../../api/trafficstack/trafficStack.ts';
import { TRAFFIC_WEIGHTS } from '../../api/trafficweight/trafficWeight.ts';
import { DNS_ENDPOINTS } from '../../weights/records/endpoint.ts';
import { NO_RIGHTS, rule, type ControllerRights } from '../contract/rights.ts';

const { group, plural } = TRAFFIC_WEIGHTS;

/**
 * The RBAC rights of the controller of TrafficWeights, all for the process of its own. A clean-up removes nothing: the records are
 * unchanged.
 */
export function trafficWeightRights(): ControllerRights {
  return {
    controller: NO_RIGHTS,
    cleanup: NO_RIGHTS,
    onlyWith: [
      {
        values: ['weights'],
        process: 'weights',
        own: [
          { ...rule('', ['configmaps'], ['get']), why: 'For spec.backend.configMap.' },
          {
            ...rule('', ['services'], ['get'], ['prometheus']),
            why: 'Whether the operator has made the Prometheus that is queried.',
          },
          rule('apps', ['deployments'], ['get'], ['prometheus']),
        ],
        cluster: [
          rule(group, [plural], ['list', 'watch']),
          {
            ...rule(TRAFFIC_STACKS.group, [TRAFFIC_STACKS.plural], ['list', 'watch']),
            why: 'The Prometheus that a TrafficStack uses.',
          },
          rule(group, [`${plural}/status`], ['patch']),
          { ...rule('networking.k8s.io', ['ingresses'], ['list', 'watch']), why: 'Hosts and load balancers.' },
          {
            ...rule('gateway.networking.k8s.io', ['httproutes', 'gateways'], ['list', 'watch']),
            why: 'Hosts and addresses of HTTPRoutes, in a cluster with the Gateway API.',
          },
          { ...rule('discovery.k8s.io', ['endpointslices'], ['list', 'watch']), why: 'Which Services are ready.' },
          {
            ...rule('', ['namespaces'], ['list', 'watch']),
            why: 'For spec.namespaceSelector, and the listeners that select by namespace.',
          },
          {
            ...rule(DNS_ENDPOINTS.group, [DNS_ENDPOINTS.plural], ['list', 'watch', 'create', 'patch', 'delete']),
            why: 'The records, which external-dns publishes.',
          },
        ],
      },
    ],
  };
}
