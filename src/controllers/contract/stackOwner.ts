import { TRAFFIC_STACKS } from '../../api/trafficstack/trafficStack.ts';
import { apiVersionOf, type KubeObject } from '../../runtime/client/resource.ts';

/**
 * An object without its owner reference to a TrafficStack, for where no stack is run: a built-in component is then of its own
 * controller again, which replaces that reference with its next apply.
 */
export function withoutStackOwner<T extends KubeObject>(object: T): T {
  const { metadata } = object;
  const others = metadata?.ownerReferences?.filter(
    ({ kind, apiVersion }) => kind !== TRAFFIC_STACKS.kind || apiVersion !== apiVersionOf(TRAFFIC_STACKS),
  );
  return others === undefined ? object : { ...object, metadata: { ...metadata, ownerReferences: others } };
}
