import { TRAFFIC_STACKS } from '../../../../api/trafficstack/trafficStack.ts';
import { managersOf } from '../../../../runtime/apply/managedFields.ts';
import type { KubeObject } from '../../../../runtime/client/resource.ts';
import { COMPONENT_LABEL } from '../../names.ts';

/** Annotations that helm writes on the objects of a release. */
const RELEASE = 'meta.helm.sh/release-name';
const RELEASE_NAMESPACE = 'meta.helm.sh/release-namespace';

/**
 * Whose an object is that is not of the stack, to be read after "of":
 *
 * | the object                        | whose it is                                  |
 * |-----------------------------------|----------------------------------------------|
 * | has an owner, a controller first  | `the TrafficStack other, component db`, or `ReplicaSet web-64fd5676` |
 * | has the annotations of helm       | `the helm release databases/orders`          |
 * | has managed fields                | `the field manager kubectl-client-side-apply` |
 * | has none of these                 | undefined                                    |
 *
 * The object of another stack is in the cache, without its managed fields: that one is its controller. Any other was read as it is.
 */
export function foreignOwnerOf({ metadata }: KubeObject): string | undefined {
  const { ownerReferences = [], labels = {}, annotations = {}, managedFields = [] } = metadata ?? {};
  const owner = ownerReferences.find(({ controller }) => controller === true) ?? ownerReferences[0];
  if (owner?.kind === TRAFFIC_STACKS.kind) {
    const component = labels[COMPONENT_LABEL];
    return `the TrafficStack ${owner.name}${component === undefined ? '' : `, component ${component}`}`;
  }
  if (owner !== undefined) return `${owner.kind} ${owner.name}`;
  const release = annotations[RELEASE];
  const namespace = annotations[RELEASE_NAMESPACE];
  if (release !== undefined) return `the helm release ${namespace === undefined ? '' : `${namespace}/`}${release}`;
  const managers = managersOf(managedFields);
  if (managers.length === 0) return undefined;
  return `the field manager${managers.length === 1 ? '' : 's'} ${managers.join(', ')}`;
}
