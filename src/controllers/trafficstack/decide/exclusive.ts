import type { V1StatefulSetSpec } from '@kubernetes/client-node';
import { MOST_CLAIMS, MOST_REPLICAS } from '../../../api/trafficstack/podSchemas.ts';
import { TRAFFIC_WEIGHTS, type TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { isWorkload } from '../render/kinds.ts';

/**
 * Returns the things that only one of two objects can have at a time, each as a text that is equal for both:
 *
 * | the object       | has                                                              |
 * |------------------|------------------------------------------------------------------|
 * | a workload       | the ports of nodes that its pods listen on, and its volume claims, also by volumeClaimTemplates |
 * | a TrafficWeight  | the DNS records of its domain                                    |
 *
 * Two Deployments may have one port on different nodes, and some claims serve several pods. So these count only for a component that does
 * not start: see blockedBy in removal.ts.
 */
export function exclusiveOf(object: KubeObject): readonly string[] {
  // Only the name of an object of another owner is desired, and other kinds have no template.
  const { spec } = object as { readonly spec?: Partial<V1StatefulSetSpec & TrafficWeight['spec']> };
  if (object.kind === TRAFFIC_WEIGHTS.kind) return spec === undefined ? [] : [`records of ${spec.bindingDomain ?? ''}`];
  // The manifests of users have anything.
  if (!isWorkload({ kind: object.kind ?? '' })) return [];
  const { hostNetwork, containers, volumes } = spec?.template?.spec ?? {};
  const ports = (containers ?? []).flatMap((container) => container.ports ?? []);
  const ofNodes = ports.flatMap(({ hostPort, containerPort, protocol = 'TCP' }) => {
    const port = hostNetwork === true ? containerPort : hostPort;
    return port === undefined ? [] : [`port ${protocol}/${port}`];
  });
  const named = (volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? []);
  const claims = [...named, ...ownClaimsOf(object, spec)].map(
    (name) => `${CLAIM}${object.metadata?.namespace}/${name}`,
  );
  return [...ofNodes, ...claims];
}

/** Returns whether a text of exclusiveOf is a volume claim. */
export function isClaim(what: string): boolean {
  return what.startsWith(CLAIM);
}

const CLAIM = 'claim ';

/**
 * Returns the names of the claims that a StatefulSet makes for its pods
 * (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#stable-storage), as many as a spec may have: others may change it.
 */
function ownClaimsOf({ metadata }: KubeObject, spec: Partial<V1StatefulSetSpec> | undefined): string[] {
  const replicas = Math.min(spec?.replicas ?? 1, MOST_REPLICAS);
  return (spec?.volumeClaimTemplates ?? [])
    .slice(0, MOST_CLAIMS)
    .flatMap((template) =>
      Array.from({ length: replicas }, (_, ordinal) => `${template.metadata?.name}-${metadata?.name}-${ordinal}`),
    );
}
