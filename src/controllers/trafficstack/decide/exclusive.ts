import type { V1DeploymentSpec } from '@kubernetes/client-node';
import { TRAFFIC_WEIGHTS, type TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { isWorkload } from '../render/kinds.ts';

/**
 * What only one of two objects can have at a time, each as a text that is equal for both:
 *
 * | the object       | has                                                              |
 * |------------------|------------------------------------------------------------------|
 * | a workload       | the ports of nodes that its pods listen on, and its volume claims |
 * | a TrafficWeight  | the DNS records of its domain                                    |
 *
 * Two Deployments may have one port on different nodes, and some claims serve several pods. So these count only for a component that does
 * not start: see isBlocked in removal.ts.
 */
export function exclusiveOf(object: KubeObject): readonly string[] {
  // Only the name of an object of another owner is desired, and other kinds have no template.
  const { spec } = object as { readonly spec?: Partial<V1DeploymentSpec & TrafficWeight['spec']> };
  if (object.kind === TRAFFIC_WEIGHTS.kind) return spec === undefined ? [] : [`records of ${spec.bindingDomain ?? ''}`];
  // The manifests of users have anything.
  if (!isWorkload({ kind: object.kind ?? '' })) return [];
  const { hostNetwork = false, containers = [], volumes = [] } = spec?.template?.spec ?? {};
  const ports = containers.flatMap((container) => container.ports ?? []);
  const ofNodes = ports.flatMap(({ hostPort, containerPort, protocol = 'TCP' }) => {
    const port = hostNetwork ? containerPort : hostPort;
    return port === undefined ? [] : [`port ${protocol}/${port}`];
  });
  const claims = volumes.flatMap(({ persistentVolumeClaim: claim }) =>
    claim === undefined ? [] : [`claim ${object.metadata?.namespace}/${claim.claimName}`],
  );
  return [...ofNodes, ...claims];
}
