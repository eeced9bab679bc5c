import type { V1Ingress } from '@kubernetes/client-node';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { serviceKey, sourceOfIngress, type Source } from '../../../weights/records/source.ts';
import { targetsOf } from '../../../weights/records/targets.ts';
import { BYTES_OF_NAME, trimmed } from './trimmed.ts';

/** The class of an Ingress before spec.ingressClassName: https://kubernetes.io/docs/concepts/services-networking/ingress/ */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** An Ingress as the cache keeps it: parsed once, and not in each reconcile. */
export interface CachedIngress extends KubeObject {
  readonly source: Source;
  /** Undefined without a class. */
  readonly className: string | undefined;
}

/** Keeps the fields of an Ingress that its records need. @param target a host name instead of its load balancer */
export function toCachedIngress(object: KubeObject, target?: string): CachedIngress {
  const ingress = object as V1Ingress;
  const source = sourceOfIngress(ingress);
  const { metadata, spec } = ingress;
  return {
    ...trimmed(object),
    source: target === undefined ? source : { ...source, targets: targetsOf([{ hostname: target }]) },
    className: spec?.ingressClassName ?? metadata?.annotations?.[CLASS_ANNOTATION],
  };
}

/** Reduces an Ingress whose body the cache drops to its identity. */
export function identityOfIngress(ingress: CachedIngress): CachedIngress {
  return { ...ingress, source: { ...ingress.source, annotations: {}, hosts: [], targets: [] }, className: undefined };
}

/** Returns the bytes that the names in an Ingress take besides their text. */
export function costOfIngress({ source: { hosts } }: CachedIngress): number {
  return BYTES_OF_NAME * hosts.reduce((names, { services }) => names + 1 + services.length, 0);
}

/** Returns the Services of all hosts of an Ingress, as `namespace/name`. */
export function servicesOf({ source: { namespace, hosts } }: CachedIngress): string[] {
  return hosts.flatMap(({ services }) => services.map((service) => serviceKey(namespace, service)));
}
