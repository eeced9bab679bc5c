import type { InventoryObject } from '../../../../api/trafficstack/trafficStack.ts';
import type { StackPod } from '../../observe/observation.ts';

/** Whether an object of the inventory made a pod, by the controller of the pod. */
export function isMadeBy(pod: StackPod, { kind, namespace, name }: InventoryObject): boolean {
  return pod.key.startsWith(`${namespace}/`) && pod.workload === `${kind} ${name}`;
}
