import { createHash } from 'node:crypto';
import type { KubeObject } from '../client/resource.ts';
import { isObject } from './mergePatch.ts';

/**
 * Annotation with a hash of the last applied object, so that the removal of a desired field is detected as a change.
 */
export const APPLIED_HASH_ANNOTATION = 'traffic.example.com/applied-hash';
/** Value of the annotation in an object that this operator has created, but not applied yet. */
export const NOT_APPLIED_YET = 'not-applied-yet';

/**
 * Returns the hash of a desired object. It does not depend on the order of keys, and changes if a field is added, changed or
 * removed. Ignores the annotation that contains the hash.
 *
 * @returns 32 hexadecimal digits
 */
export function appliedHash(object: KubeObject): string {
  const others = Object.entries(object.metadata?.annotations ?? {}).filter(([key]) => key !== APPLIED_HASH_ANNOTATION);
  const annotated = withAnnotations(object, others.length === 0 ? undefined : Object.fromEntries(others));
  return createHash('sha256').update(canonical(annotated)).digest('hex').slice(0, 32);
}

/** JSON with sorted keys and without undefined values. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isObject(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item,
  );
}

/** Returns the object with these annotations instead of its own. */
export function withAnnotations<T extends KubeObject>(object: T, annotations: Record<string, string> | undefined): T {
  const metadata: object = object.metadata ?? {};
  return { ...object, metadata: { ...metadata, annotations } };
}
