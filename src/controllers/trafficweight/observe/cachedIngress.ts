import type { V1Ingress } from '@kubernetes/client-node';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { sourceOfIngress, type Source } from '../../../weights/records/source.ts';

/** The class of an Ingress before spec.ingressClassName: https://kubernetes.io/docs/concepts/services-networking/ingress/ */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** An Ingress as the cache keeps it: it is read once, and not by each reconcile. */
export interface CachedIngress extends KubeObject {
  readonly source: Source;
  /** Undefined without a class. */
  readonly className: string | undefined;
}

/** Keeps of an Ingress what its records need. */
export function toCachedIngress(object: KubeObject): CachedIngress {
  const ingress = object as V1Ingress;
  const { apiVersion, kind, metadata, spec } = ingress;
  const { name, namespace, resourceVersion } = metadata ?? {};
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata: { name, namespace, resourceVersion },
    source: sourceOfIngress(ingress),
    className: spec?.ingressClassName ?? metadata?.annotations?.[CLASS_ANNOTATION],
  };
}

/** The Services of all its hosts, as `namespace/name`. */
export function servicesOf({ source: { namespace, hosts } }: CachedIngress): string[] {
  return hosts.flatMap(({ services }) => services.map((service) => `${namespace}/${service}`));
}
