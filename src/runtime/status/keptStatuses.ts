import { isEqual } from '../apply/mergePatch.ts';
import { keyOf, type KubeObject } from '../client/resource.ts';

/** An object of a kind that has a status. */
export type WithStatus = KubeObject & { status?: unknown };
/** The status of a kind. */
export type StatusOf<T extends WithStatus> = NonNullable<T['status']>;

interface Kept<T extends WithStatus> {
  readonly uid: string | undefined;
  readonly meant: StatusOf<T>;
  /** What the API server made of it. */
  readonly kept: unknown;
}

/**
 * Statuses of which the API server did not keep all that was written: the schema of an older CRD drops the fields that
 * it does not know. What was meant is remembered here for as long as the object is what the API server made of it, so
 * that it is neither written nor reported again at every pass. Holds nothing where the CRD is that of this version.
 *
 * An overlay cannot do this: it holds what the API server answered, and only until the cache has caught up with it.
 */
export class KeptStatuses<T extends WithStatus> {
  readonly #byKey = new Map<string, Kept<T>>();

  /** @param answer the object as the API server has it after `meant` was written */
  wrote(meant: StatusOf<T>, answer: T): void {
    const key = keyOf(answer);
    if (isEqual(answer.status, meant)) this.#byKey.delete(key);
    else this.#byKey.set(key, { uid: answer.metadata?.uid, meant, kept: answer.status });
  }

  /** The object with the status that was meant; the object itself where nothing else was, or others have written since. */
  asMeant(object: T): T {
    const known = this.#byKey.get(keyOf(object));
    const stands = known !== undefined && known.uid === object.metadata?.uid && isEqual(known.kept, object.status);
    return stands ? { ...object, status: known.meant } : object;
  }

  /** The object of this key is gone. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }
}
