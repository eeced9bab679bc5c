import { firstOf } from '../../../runtime/controller/conditions.ts';
import { heldBy } from '../../../runtime/apply/managedFields.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError, TransportError } from '../../../runtime/client/errors.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { idOf, type Member } from '../../../runtime/objectSet/objectSet.ts';
import { readLive } from '../../../runtime/objectSet/observe.ts';
import { FIELD_MANAGER } from '../names.ts';

/** Fields that a message names. */
const MOST_FIELDS = 3;

/**
 * Says who has changed an object that is about to be corrected, and which fields: `Deployment shop/web: the field manager kubectl-edit had
 * changed .spec.replicas`. It reads the object: caches have no managed fields. Undefined if it cannot be read, which keeps nothing from
 * being corrected, and if nobody has changed anything: the API server stores some values in another form, and a cache may be late.
 *
 * @param paths of the values that are not as applied
 */
export async function driftText(
  client: Client,
  member: Member & { readonly fieldManager?: string | undefined },
  paths: readonly string[],
): Promise<string | undefined> {
  const live = await readLive(client, member).catch(undefinedIfUnread);
  if (live === undefined) return undefined;
  const { fieldManager = FIELD_MANAGER } = member;
  const changed = paths.filter((path) => !holders(live, path).includes(fieldManager));
  if (changed.length === 0) return undefined;
  const managers = [...new Set(changed.flatMap((path) => holders(live, path)))].sort();
  const plural = managers.length === 1 ? '' : 's';
  // Nobody has a field that somebody has removed.
  const who = managers.length === 0 ? 'an unknown field manager' : `the field manager${plural} ${managers.join(', ')}`;
  return `${idOf(member)}: ${who} had changed ${firstOf(changed, MOST_FIELDS)}`;
}

function holders({ metadata }: KubeObject, path: string): string[] {
  return heldBy(metadata?.managedFields ?? [], path);
}

/** @throws any error of this program */
function undefinedIfUnread(error: unknown): undefined {
  if (error instanceof ApiError || error instanceof TransportError) return undefined;
  throw error;
}
