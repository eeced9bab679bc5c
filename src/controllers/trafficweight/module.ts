import { trafficWeightResource } from '../../api/trafficweight/schema.ts';
import { askValuesOf } from '../../prometheus/askValues.ts';
import { defineController, type RunningController } from '../contract/module.ts';
import { builtInsOf } from './builtIns.ts';
import { TRAFFIC_WEIGHT_FLAGS } from './flags.ts';
import { createTrafficWeightMetrics } from './metrics.ts';
import { storedWeights } from './objects/storedWeights.ts';
import { configMapsIn } from './observe/backend/readConfigMap.ts';
import { trafficWeightRights } from './rbac.ts';
import { runWeights } from './run.ts';

const NOT_RUNNING: RunningController = { parts: [], enqueueAll: () => undefined };

/** The controller of TrafficWeights: gives the DNS records of the cluster's Ingresses their weights. */
export const trafficWeight = defineController({
  name: 'trafficweight',
  kinds: [trafficWeightResource],
  flags: TRAFFIC_WEIGHT_FLAGS,
  rights: trafficWeightRights,
  registerMetrics: createTrafficWeightMetrics,
  builtIns: ({ weights }) => builtInsOf(weights),
  create(context, { weights, dynamodbEndpointUrl, route53EndpointUrl, namespace }) {
    if (!weights) return NOT_RUNNING;
    return runWeights(context, {
      ...{ objects: storedWeights(context), dynamodbEndpointUrl, route53EndpointUrl },
      ...{ withNamespaces: true, withRoutes: true },
      sources: { ask: askValuesOf(context.prometheus), configMap: configMapsIn(namespace, context.client) },
    });
  },
  cleanUp: () => Promise.resolve(),
});
