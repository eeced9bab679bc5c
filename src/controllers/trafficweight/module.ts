import { TRAFFIC_STACKS, type ComponentSpec } from '../../api/trafficstack/trafficStack.ts';
import { trafficWeightResource, TRAFFIC_WEIGHTS } from '../../api/trafficweight/trafficWeight.ts';
import { apiVersionOf, type KubeObject } from '../../runtime/client/resource.ts';
import { DNS_ENDPOINTS } from '../../weights/records/endpoint.ts';
import type { BuiltIn } from '../contract/builtIn.ts';
import { defineController } from '../contract/module.ts';
import { NO_RIGHTS, rule, type ControllerRights } from '../contract/rights.ts';
import { createTrafficWeightMetrics } from './metrics.ts';

/**
 * The controller of TrafficWeights: gives the DNS records of the cluster's Ingresses their weights. The command `trafficweights` runs it.
 * The manager knows only the kind, for TrafficStacks that have TrafficWeights as components.
 */
export const trafficWeight = defineController({
  name: 'trafficweight',
  kinds: [trafficWeightResource],
  flags: {},
  rights: trafficWeightRights,
  registerMetrics: createTrafficWeightMetrics,
  builtIns: ({ weights }) => builtInsOf(weights),
  cleanUp: () => Promise.resolve(),
});

const NO_WEIGHTS = 'DNS weights are switched off; set weights.enabled=true in the chart (flag --weights)';

/** TrafficWeights, as TrafficStacks may have them. @param isEnabled whether DNS weights are switched on */
export function builtInsOf(isEnabled: boolean): BuiltIn[] {
  return [
    {
      ...{ type: 'Weights', isDeployed: false },
      problem: isEnabled ? undefined : NO_WEIGHTS,
      render: (component) => [{ resource: TRAFFIC_WEIGHTS, object: weightOf(component) }],
    },
  ];
}

/** Returns the TrafficWeight of a component; with the mode External, only its name. */
function weightOf({ name, mode, weights }: ComponentSpec): KubeObject {
  const { kind } = TRAFFIC_WEIGHTS;
  return {
    ...{ apiVersion: apiVersionOf(TRAFFIC_WEIGHTS), kind, metadata: { name } },
    ...(mode !== 'External' && { spec: weights }),
  };
}

const { group, plural } = TRAFFIC_WEIGHTS;

/**
 * The RBAC rights of the controller of TrafficWeights, all for the process of its own. A clean-up removes nothing: the records are
 * unchanged.
 */
function trafficWeightRights(): ControllerRights {
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
            ...rule('gateway.networking.k8s.io', ['httproutes', 'gateways', 'listenersets'], ['list', 'watch']),
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
