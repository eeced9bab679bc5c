import type { ComponentSpec } from '../../api/trafficstack/trafficStack.ts';
import { TRAFFIC_WEIGHTS } from '../../api/trafficweight/trafficWeight.ts';
import { apiVersionOf, type KubeObject } from '../../runtime/client/resource.ts';
import type { BuiltIn } from '../contract/builtIn.ts';

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
