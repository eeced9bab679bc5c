import type { V1Deployment } from '@kubernetes/client-node';
import { APPLIED_HASH_ANNOTATION, appliedHash } from '../../../runtime/apply/apply.ts';
import type { CallOptions, Client } from '../../../runtime/client/client.ts';
import { isConflict, WaitingError } from '../../../runtime/client/errors.ts';
import * as managed from '../../../runtime/apply/managedFields.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { apiVersionOf, keyOf, refOfKey } from '../../../runtime/client/resource.ts';

const REPLICAS = ['f:spec', 'f:replicas'];
const ROLLING_UPDATE = ['f:spec', 'f:strategy', 'f:rollingUpdate'];
/** How soon to look again at a Deployment that was replaced by another meanwhile: ms. */
const LOOK_AGAIN_MS = 1_000;
/** In a rollout the status moves often, and every time the owners must be read anew. */
const ATTEMPTS = 3;

/** True for a Deployment that we own and never applied: the controller that made it was another. */
export function isTakeover(live: V1Deployment): boolean {
  return live.metadata?.annotations?.[APPLIED_HASH_ANNOTATION] === undefined;
}

function isStuckOnRollingUpdate(desired: V1Deployment, live: V1Deployment): boolean {
  return desired.spec?.strategy?.type === 'Recreate' && live.spec?.strategy?.rollingUpdate !== undefined;
}

/** An autoscaler may be about to have the replicas: who owns them must be known once, when the spec has changed. */
function mayLetGoOfReplicas(desired: V1Deployment, live: V1Deployment): boolean {
  const applied = live.metadata?.annotations?.[APPLIED_HASH_ANNOTATION];
  return (desired.spec?.replicas ?? undefined) === undefined && applied !== appliedHash(desired);
}

/**
 * The field owners as they should be before `desired` is applied; the same array when they are so already.
 *
 * | case | edit |
 * | ---- | ---- |
 * | made by another controller, PKopel/traffic-operator | what the one that wrote our owner reference owns becomes ours, so that the apply removes what the spec doesn't say. Others, such as kubectl, keep theirs |
 * | as before, and without any owner: a restored backup, say | the API server makes one entry for all that is there, on our first apply; it becomes ours |
 * | Recreate is wanted, rollingUpdate is there | rollingUpdate becomes ours alone: the apply removes it, in one write with the new type; the API server refuses both together, and its own defaults belong to nobody |
 * | replicas are no longer wanted | they become nobody's, and stay: removed, they would fall to the default of 1 |
 */
export function ownersBefore(desired: V1Deployment, live: V1Deployment, manager: string): managed.ManagedFields {
  const owner = { manager, apiVersion: apiVersionOf(DEPLOYMENTS) };
  const uid = desired.metadata?.ownerReferences?.[0]?.uid ?? '';
  const reference = ['f:metadata', 'f:ownerReferences', `k:{"uid":${JSON.stringify(uid)}}`];
  let fields: managed.ManagedFields = live.metadata?.managedFields ?? [];
  if (isTakeover(live)) {
    fields = managed.takeOver(fields, owner, (entry) => managed.isUpdate(entry) && managed.hasField(entry, reference));
  }
  if (isStuckOnRollingUpdate(desired, live)) {
    const parts = Object.keys(live.spec?.strategy?.rollingUpdate ?? {}).map((name) => [`f:${name}`, {}] as const);
    fields = managed.claim(fields, owner, ROLLING_UPDATE, { '.': {}, ...Object.fromEntries(parts) });
  }
  const ownsReplicas = fields.some((entry) => managed.isAppliedBy(entry, manager) && managed.hasField(entry, REPLICAS));
  if (ownsReplicas && (desired.spec?.replicas ?? undefined) === undefined) {
    fields = managed.release(fields, manager, REPLICAS);
  }
  return fields;
}

/**
 * Puts the field owners of a Deployment in order before it is applied. Asks for the Deployment first where `known` does
 * not tell them, since the cache keeps no owners but scalers, but only in the rare cases that need it. Done twice, or without the
 * apply, it does no harm.
 *
 * @param known from the cache, or the API server's answer to its creation
 * @throws ApiError (409 when somebody wrote meanwhile, three times in a row), TransportError, NotLeaderError, WaitingError
 */
export async function prepareOwnership(
  client: Client,
  manager: string,
  desired: V1Deployment,
  known: V1Deployment,
  options?: CallOptions,
): Promise<void> {
  const isNeeded = isTakeover(known) || isStuckOnRollingUpdate(desired, known) || mayLetGoOfReplicas(desired, known);
  if (!isNeeded) return;
  for (let left = ATTEMPTS; left > 0; left--) {
    try {
      const isTold = left === ATTEMPTS && tellsOwners(known);
      const found = isTold ? known : await findAgain(client, desired, known, options);
      await writeOwners(client, manager, desired, found, options);
      return;
    } catch (error) {
      if (!isConflict(error) || left === 1) throw error;
    }
  }
}

/** The cache keeps who scaled it, and no others. */
function tellsOwners({ metadata }: V1Deployment): boolean {
  return (metadata?.managedFields ?? []).some(({ subresource }) => subresource !== 'scale');
}

function isOwnerless({ metadata }: V1Deployment): boolean {
  return (metadata?.managedFields ?? []).length === 0;
}

/**
 * Of an object without owners the API server says, at its first apply, that what was there belongs to
 * `before-first-apply`; what is not in that apply would then stay for ever.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#clearing-managedfields
 */
function makeOwned(
  client: Client,
  fieldManager: string,
  { apiVersion, kind, metadata }: V1Deployment,
  live: V1Deployment,
  options?: CallOptions,
): Promise<V1Deployment> {
  const { name, namespace, labels } = metadata ?? {};
  const bare: V1Deployment = { apiVersion, kind, metadata: { name, namespace, labels, uid: live.metadata?.uid } };
  return client.apply(DEPLOYMENTS, bare, { ...options, fieldManager, force: true });
}

/** The Deployment as it is now, as long as it is the same. */
async function findAgain(
  client: Client,
  desired: V1Deployment,
  known: V1Deployment,
  options?: CallOptions,
): Promise<V1Deployment> {
  const found = await client.get(DEPLOYMENTS, refOfKey(keyOf(desired)), options);
  if (found.metadata?.uid === known.metadata?.uid) return found;
  throw new WaitingError('Overtaken', 'the Deployment was replaced by another', LOOK_AGAIN_MS);
}

async function writeOwners(
  client: Client,
  manager: string,
  desired: V1Deployment,
  found: V1Deployment,
  options?: CallOptions,
): Promise<void> {
  const isLost = isTakeover(found) && isOwnerless(found);
  const live = isLost ? await makeOwned(client, manager, desired, found, options) : found;
  const { resourceVersion, managedFields = [] } = live.metadata ?? {};
  const owners = ownersBefore(desired, live, manager);
  if (JSON.stringify(owners) === JSON.stringify(managedFields)) return;
  const patch = { metadata: { resourceVersion, managedFields: owners } };
  await client.mergePatch(DEPLOYMENTS, refOfKey(keyOf(desired)), patch, { ...options, fieldManager: manager });
}
