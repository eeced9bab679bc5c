import type { TrafficWatch } from '../../../../../api/trafficwatch/schema.ts';
import type { ContestedReplicas } from '../../../model/replicas.ts';

/** Says who overrides the replicas of the spec, and the two ways to end that. */
export function contestedMessage({ metadata }: TrafficWatch, { wanted, by }: ContestedReplicas): string {
  const { name = '', namespace = '' } = metadata ?? {};
  const remove = `kubectl -n ${namespace} patch trafficwatch ${name} --type=json -p '[{"op":"remove","path":"/spec/deployment/replicas"}]'`;
  const scale = `kubectl -n ${namespace} scale deployment ${name} --replicas=${wanted}`;
  return (
    `spec.deployment.replicas is ${wanted}, but field manager "${by}", such as an autoscaler, keeps scaling the Deployment, ` +
    `and its count applies; remove the replicas from the spec: ${remove}; or stop that client, and set them once: ${scale}`
  );
}
