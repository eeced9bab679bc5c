import type { V1OwnerReference } from '@kubernetes/client-node';
import { TRAFFIC_STACKS } from '../../api/trafficstack/trafficStack.ts';
import { apiVersionOf, type KubeObject } from '../../runtime/client/resource.ts';
import { isMarked, type Owner } from '../../runtime/objectSet/objectSet.ts';

/**
 * A live object without its owner reference to a TrafficStack, for where no stack is run: a built-in component is then of its own
 * controller again, which replaces that reference with its next apply. Undefined if there is none.
 */
export function withoutStackOwner(live: KubeObject | undefined): KubeObject | undefined {
  const others = live?.metadata?.ownerReferences?.filter((owner) => !isStack(owner));
  return others === undefined ? live : { ...live, metadata: { ...live?.metadata, ownerReferences: others } };
}

/** Whether a TrafficStack keeps the object as a component that has these labels. */
export function isOfAnyStack(live: KubeObject | undefined, labels: Owner['labels']): boolean {
  const controller = live?.metadata?.ownerReferences?.find((owner) => owner.controller === true);
  return live !== undefined && controller !== undefined && isStack(controller) && isMarked(live, labels);
}

function isStack({ kind, apiVersion }: V1OwnerReference): boolean {
  return kind === TRAFFIC_STACKS.kind && apiVersion === apiVersionOf(TRAFFIC_STACKS);
}
