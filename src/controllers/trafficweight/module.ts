import { trafficWeightResource } from '../../api/trafficweight/trafficWeight.ts';
import { defineController } from '../contract/module.ts';
import { builtInsOf } from './builtIns.ts';
import { createTrafficWeightMetrics } from './metrics.ts';
import { trafficWeightRights } from './rbac.ts';

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
