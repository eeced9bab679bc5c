import type { V1OwnerReference, V1ReplicaSet } from '@kubernetes/client-node';
import type { Client } from '../../runtime/client/client.ts';
import { isForbidden, isNotFound } from '../../runtime/client/errors.ts';
import type { KubeObject, ObjectRef, Resource } from '../../runtime/client/resource.ts';
import { PODS } from '../../runtime/client/resources.ts';

const REPLICA_SETS: Resource<V1ReplicaSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  namespaced: true,
};

/**
 * An owner reference to the operator's own Deployment, for objects in its namespace. Finds the Deployment as the owner
 * of the ReplicaSet of this process's pod.
 *
 * @param pod this process's pod, from the downward API; undefined outside of a cluster
 * @returns undefined if there is no such Deployment, or it may not be read
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
    // Without the right to read, the objects get no owner and stay until somebody deletes them.
    if (isNotFound(error) || isForbidden(error)) return undefined;
    throw error;
  }
}
