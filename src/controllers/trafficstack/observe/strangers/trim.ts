import { withoutManagedFields } from '../../../../runtime/cache/informer.ts';
import type { KubeObject } from '../../../../runtime/client/resource.ts';

/** What `kubectl apply` has sent: as large as the object itself. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Content that nobody reads here: of a ConfigMap, only whose it is. */
interface Content {
  data?: unknown;
  binaryData?: unknown;
}

/** Drops what nobody reads. Expressions may read any other field of a workload, Service or TrafficWeight; managed fields tell whose an object is. */
export function trimStranger(object: KubeObject & Content): KubeObject {
  delete object.metadata?.annotations?.[LAST_APPLIED];
  delete object.data;
  delete object.binaryData;
  return object;
}

/** The same for objects of which few are of interest. Of the others only the name is kept. */
export function trimSought(mayConcern: (live: KubeObject) => boolean = () => true) {
  return (object: KubeObject): KubeObject =>
    mayConcern(object) ? withoutManagedFields(trimStranger(object)) : nameOf(object);
}

/** What is left of an object that concerns nobody, or that takes more than its namespace may: see createBoundedInformer. */
export function nameOf({ apiVersion = '', kind = '', metadata = {} }: KubeObject): KubeObject {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { ...(namespace !== undefined && { namespace }), name, uid, resourceVersion },
  };
}
