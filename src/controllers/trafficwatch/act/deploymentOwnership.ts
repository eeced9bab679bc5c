import type { V1Deployment } from '@kubernetes/client-node';
import { APPLIED_HASH_ANNOTATION, appliedHash, NOT_APPLIED_YET } from '../../../runtime/apply/apply.ts';
import type { CallOptions, Client, JsonPatchOperation } from '../../../runtime/client/client.ts';
import { isConflict, isInvalid, WaitingError } from '../../../runtime/client/errors.ts';
import * as managed from '../../../runtime/apply/managedFields.ts';
import { ownersPatch } from '../../../runtime/apply/managedFields.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { apiVersionOf, keyOf, refOfKey } from '../../../runtime/client/resource.ts';

const REPLICAS = ['f:spec', 'f:replicas'];
const ROLLING_UPDATE = ['f:spec', 'f:strategy', 'f:rollingUpdate'];
/** Requeue delay if another client writes the Deployment, or replaced it, meanwhile: ms. */
const LOOK_AGAIN_MS = 1_000;
/** Attempts to write managedFields: only a write that changes the same entries, as of a person who edits our fields, makes one fail. */
const ATTEMPTS = 3;

/** True for a Deployment that we own but never applied: another controller created it. */
export function isTakeover(live: V1Deployment): boolean {
  return live.metadata?.annotations?.[APPLIED_HASH_ANNOTATION] === undefined;
}

/** True for a Deployment that this operator created, and did not apply yet. */
export function isIncomplete(live: V1Deployment): boolean {
  return live.metadata?.annotations?.[APPLIED_HASH_ANNOTATION] === NOT_APPLIED_YET;
}

function isStuckOnRollingUpdate(desired: V1Deployment, live: V1Deployment): boolean {
  return desired.spec?.strategy?.type === 'Recreate' && live.spec?.strategy?.rollingUpdate !== undefined;
}

/** True if the spec has no replicas and has changed: the owner of the replicas must be checked once. */
function mayReleaseReplicas(desired: V1Deployment, live: V1Deployment): boolean {
  const applied = live.metadata?.annotations?.[APPLIED_HASH_ANNOTATION];
  return (desired.spec?.replicas ?? undefined) === undefined && applied !== appliedHash(desired);
}

/**
 * The managedFields that the Deployment must have before `desired` is applied. Returns the same array if nothing
 * changes.
 *
 * | case | edit |
 * | ---- | ---- |
 * | we created it, or another controller, PKopel/traffic-operator | we take over the fields of the manager that wrote our owner reference, so that the apply removes fields that the spec lacks. Other managers, such as kubectl, keep their fields |
 * | the same, but without managedFields, as in a restored backup | on our first apply, the API server makes one entry for all present fields; we take it over |
 * | Recreate is wanted, rollingUpdate is present | we become the only owner of rollingUpdate: the apply then removes it and sets the new type in one write. The API server rejects both together, and defaulted fields have no owner |
 * | replicas are no longer in the spec | they get no owner and keep their value. If the apply removed them, they would default to 1 |
 */
export function ownersBefore(desired: V1Deployment, live: V1Deployment, manager: string): managed.ManagedFields {
  const owner = { manager, apiVersion: apiVersionOf(DEPLOYMENTS) };
  const uid = desired.metadata?.ownerReferences?.[0]?.uid ?? '';
  const reference = ['f:metadata', 'f:ownerReferences', `k:{"uid":${JSON.stringify(uid)}}`];
  let fields: managed.ManagedFields = live.metadata?.managedFields ?? [];
  if (isTakeover(live) || isIncomplete(live)) {
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
 * Writes the managedFields of a Deployment before it is applied, in the rare cases that need it. GETs the Deployment
 * first if `known` comes from the cache, which keeps only the managedFields of scalers. Idempotent, and harmless if the
 * apply does not follow.
 *
 * @param known from the cache, or the response of the API server to the creation
 * @throws ApiError, TransportError, NotLeaderError
 * @throws WaitingError if the Deployment was deleted and created again, or its owners change all the time
 */
export async function prepareOwnership(
  client: Client,
  manager: string,
  desired: V1Deployment,
  known: V1Deployment,
  options?: CallOptions,
): Promise<void> {
  const isOurs = !isTakeover(known) && !isIncomplete(known);
  const isNeeded = !isOurs || isStuckOnRollingUpdate(desired, known) || mayReleaseReplicas(desired, known);
  if (!isNeeded) return;
  let refused = '';
  for (let n = 0; n < ATTEMPTS; n++) {
    const isComplete = n === 0 && hasAllManagedFields(known);
    const found = isComplete ? known : await getAgain(client, desired, known, options);
    const patch = await patchOf(client, manager, desired, found, options);
    if (patch.length === 0) return;
    try {
      await client.jsonPatch(DEPLOYMENTS, refOfKey(keyOf(desired)), patch, { ...options, fieldManager: manager });
      return;
    } catch (error) {
      // A test of the patch failed, unless the same patch is refused again.
      const isOvertaken = isConflict(error) || (isInvalid(error) && JSON.stringify(patch) !== refused);
      if (!isOvertaken) throw error;
      refused = JSON.stringify(patch);
    }
  }
  throw new WaitingError('Overtaken', 'other clients change who owns the fields of the Deployment', LOOK_AGAIN_MS);
}

/** True if the object has full managedFields. Objects of the cache have only the entries of scalers. */
function hasAllManagedFields({ metadata }: V1Deployment): boolean {
  return (metadata?.managedFields ?? []).some(({ subresource }) => subresource !== 'scale');
}

function hasNoManagedFields({ metadata }: V1Deployment): boolean {
  return (metadata?.managedFields ?? []).length === 0;
}

/**
 * Applies only our labels, so that the API server creates managedFields for an object without any. At the first apply,
 * it assigns the present fields to the manager `before-first-apply`. Unless we take these over, fields that the spec
 * lacks would never be removed.
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

/** GETs the Deployment. Throws WaitingError if it was deleted and created again. */
async function getAgain(
  client: Client,
  desired: V1Deployment,
  known: V1Deployment,
  options?: CallOptions,
): Promise<V1Deployment> {
  const found = await client.get(DEPLOYMENTS, refOfKey(keyOf(desired)), options);
  if (found.metadata?.uid === known.metadata?.uid) return found;
  throw new WaitingError('Overtaken', 'the Deployment was replaced by another', LOOK_AGAIN_MS);
}

/** Returns the patch that the managedFields need. */
async function patchOf(
  client: Client,
  manager: string,
  desired: V1Deployment,
  found: V1Deployment,
  options?: CallOptions,
): Promise<readonly JsonPatchOperation[]> {
  const isLost = isTakeover(found) && hasNoManagedFields(found);
  const live = isLost ? await makeOwned(client, manager, desired, found, options) : found;
  const { uid, managedFields = [] } = live.metadata ?? {};
  return ownersPatch(uid, managedFields, ownersBefore(desired, live, manager));
}
