import type { V1OwnerReference, V1ReplicaSet } from '@kubernetes/client-node';
import type { Client } from '../../../runtime/client/client.ts';
import { isForbidden, isNotFound } from '../../../runtime/client/errors.ts';
import type { KubeObject, ObjectRef, Resource } from '../../../runtime/client/resource.ts';
import { PODS } from '../../../runtime/client/resources.ts';

const REPLICA_SETS: Resource<V1ReplicaSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  namespaced: true,
};

/**
 * The operator's own Deployment, as an owner of other objects in its namespace: the owner of the ReplicaSet of the pod
 * that this process runs in.
 *
 * @param pod this process's pod, from the downward API; undefined where it runs outside a cluster
 * @returns undefined where there is no such Deployment
 * @throws ApiError, TransportError
 */
export async function findOperatorDeployment(
  client: Client,
  pod: ObjectRef | undefined,
): Promise<V1OwnerReference | undefined> {
  if (pod === undefined) return undefined;
  const replicaSet = ownerOf(await getOrNothing(client, PODS, pod), 'ReplicaSet');
  if (replicaSet === undefined) return undefined;
  const ref = { name: replicaSet.name, namespace: pod.namespace };
  const deployment = ownerOf(await getOrNothing(client, REPLICA_SETS, ref as ObjectRef), 'Deployment');
  if (deployment === undefined) return undefined;
  const { apiVersion, kind, name, uid } = deployment;
  return { apiVersion, kind, name, uid };
}

function ownerOf(object: KubeObject | undefined, kind: string): V1OwnerReference | undefined {
  return object?.metadata?.ownerReferences?.find((owner) => owner.kind === kind && owner.controller === true);
}

async function getOrNothing<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  ref: ObjectRef,
): Promise<T | undefined> {
  try {
    return await client.get(resource, ref);
  } catch (error) {
    // Who may not read it has no owner for its objects: they then stay until somebody takes them away.
    if (isNotFound(error) || isForbidden(error)) return undefined;
    throw error;
  }
}
