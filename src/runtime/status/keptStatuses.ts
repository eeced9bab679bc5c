import { isEqual } from '../apply/mergePatch.ts';
import { keyOf, type KubeObject } from '../client/resource.ts';

/** An object of a kind that has a status. */
export type WithStatus = KubeObject & { status?: unknown };
/** The status of a kind. */
export type StatusOf<T extends WithStatus> = NonNullable<T['status']>;

interface Kept<T extends WithStatus> {
  readonly uid: string | undefined;
  readonly meant: StatusOf<T>;
  /** The status that the API server stored for `meant`. */
  readonly kept: unknown;
}

/**
 * Remembers written statuses that the API server did not store completely: the schema of an older CRD drops unknown fields. Keeps the
 * written status while the object has the stored one, so that no reconcile writes or reports it again. Holds nothing if the CRD is
 * of this version.
 *
 * An overlay cannot do this: it holds the answer of the API server, and only until the cache has caught up with it.
 */
export class KeptStatuses<T extends WithStatus> {
  readonly #byKey = new Map<string, Kept<T>>();

  /** Remembers `meant` if the API server did not store all of it. @param answer the object in the response to the write of `meant` */
  wrote(meant: StatusOf<T>, answer: T): void {
    const key = keyOf(answer);
    if (isEqual(answer.status, meant)) this.#byKey.delete(key);
    else this.#byKey.set(key, { uid: answer.metadata?.uid, meant, kept: answer.status });
  }

  /** Returns the object with the status that was written; the object itself if all of it was stored, or others have written since. */
  asMeant(object: T): T {
    const known = this.#byKey.get(keyOf(object));
    const stands = known !== undefined && known.uid === object.metadata?.uid && isEqual(known.kept, object.status);
    return stands ? { ...object, status: known.meant } : object;
  }

  /** Call when the object of this key was deleted. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }
}
