import type { V1Ingress } from '@kubernetes/client-node';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { serviceKey, sourceOfIngress, type Source } from '../../../weights/records/source.ts';
import { targetsOf } from '../../../weights/records/targets.ts';
import { BYTES_OF_NAME, trimmed } from './trimmed.ts';

/** The class of an Ingress before spec.ingressClassName: https://kubernetes.io/docs/concepts/services-networking/ingress/ */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** An Ingress as the cache keeps it: it is read once, and not by each reconcile. */
export interface CachedIngress extends KubeObject {
  readonly source: Source;
  /** Undefined without a class. */
  readonly className: string | undefined;
}

/** Keeps of an Ingress what its records need. @param target a host name in place of its load balancer */
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

/** What is left of an Ingress whose body the cache drops. */
export function identityOfIngress(ingress: CachedIngress): CachedIngress {
  return { ...ingress, source: { ...ingress.source, annotations: {}, hosts: [], targets: [] }, className: undefined };
}

/** Bytes that its names take besides its text. */
export function costOfIngress({ source: { hosts } }: CachedIngress): number {
  return BYTES_OF_NAME * hosts.reduce((names, { services }) => names + 1 + services.length, 0);
}

/** The Services of all its hosts, as `namespace/name`. */
export function servicesOf({ source: { namespace, hosts } }: CachedIngress): string[] {
  return hosts.flatMap(({ services }) => services.map((service) => serviceKey(namespace, service)));
}
