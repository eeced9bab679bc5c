import { diffMergePatch, isEqual } from '../apply/mergePatch.ts';
import { isWithoutBody } from '../cache/bodyBudget.ts';
import type { Overlay } from '../cache/overlay.ts';
import type { CallOptions, Client } from '../client/client.ts';
import { isNotFound } from '../client/errors.ts';
import { keyOf, refOfKey, type Resource, type KubeObject } from '../client/resource.ts';
import { rethrowOvertaken } from './writeFailures.ts';
import type { EventRecorder } from '../controller/events.ts';
import type { PlannedEvent } from '../controller/conditions.ts';

interface StatusWriterOptions<T extends WithStatus> {
  /** Gated on leadership. */
  readonly client: Pick<Client, 'mergePatch'>;
  readonly resource: Resource<T>;
  readonly fieldManager: string;
  readonly objects: Pick<Overlay<T>, 'get' | 'wrote'>;
}

/** Writes the status of objects of one kind: only differences, by a merge patch of the status subresource. */
export class StatusWriter<T extends WithStatus> {
  readonly #options: StatusWriterOptions<T>;
  readonly #kept = new KeptStatuses<T>();

  constructor(options: StatusWriterOptions<T>) {
    this.#options = options;
  }

  /** Returns the present object, with the status that was last written; undefined if it does not exist. */
  newest(key: string): T | undefined {
    const object = this.#options.objects.get(key);
    return object && this.#kept.asMeant(object);
  }

  /**
   * Compares the status with the present status of the object, which this reconcile or another writer may have changed since it was
   * read, and patches the difference. If there is a difference, also sends again the fields that the API server dropped earlier: its
   * CRD may be newer by now.
   *
   * @param about the object that the status was decided for
   * @returns whether something was written: false without a difference, and if the object was deleted or created again
   * @throws WaitingError if another client wrote the object meanwhile; ApiError, TransportError
   */
  async write(about: T, status: StatusOf<T>, options: CallOptions = {}): Promise<boolean> {
    const key = keyOf(about);
    const stored = this.#options.objects.get(key) ?? about;
    const current = this.#kept.asMeant(stored);
    if (current.metadata?.uid !== about.metadata?.uid) return false;
    if (diffMergePatch(current.status ?? {}, status) === undefined) return false;
    const patch = diffMergePatch(stored.status ?? {}, status);
    if (patch === undefined) {
      this.#kept.forget(key);
      return false;
    }
    const answer = await this.#patch(key, patch, options);
    if (answer === undefined) return false;
    this.#options.objects.wrote(answer);
    // The answer has all fields, and the cache few of them.
    if (isWithoutBody(stored)) this.#kept.forget(key);
    else this.#kept.wrote(status, answer);
    return true;
  }

  /** Call when the object of this key was deleted. */
  forget(key: string): void {
    this.#kept.forget(key);
  }

  /** @returns the object in the response; undefined if it no longer exists */
  async #patch(key: string, status: unknown, options: CallOptions): Promise<T | undefined> {
    const { client, resource, fieldManager } = this.#options;
    try {
      const how = { ...options, fieldManager, subresource: 'status' };
      return await client.mergePatch(resource, refOfKey(key), { status }, how);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      rethrowOvertaken(error, resource);
      throw error;
    }
  }
}

/** An object of a kind that has a status. */
type WithStatus = KubeObject & { status?: unknown };
/** The status of a kind. */
type StatusOf<T extends WithStatus> = NonNullable<T['status']>;

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
class KeptStatuses<T extends WithStatus> {
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

/** The means to report the result of a reconcile. */
interface Reporters<T extends WithStatus> {
  readonly statuses: Pick<StatusWriter<T>, 'write'>;
  readonly events: Pick<EventRecorder, 'event'>;
}

/** The result of a reconcile. */
interface Report<T extends WithStatus> {
  /** With apiVersion and kind, which the events name. */
  readonly about: T;
  readonly status: StatusOf<T>;
  /** The changes from the previous status to this one. */
  readonly events: readonly PlannedEvent[];
}

/**
 * Ends a reconcile: writes the status, and records the events if the status has changed. Records no events for a status that could
 * not be written: the next reconcile plans the same events again.
 *
 * @throws WaitingError if another client wrote the object meanwhile; ApiError, TransportError
 */
export async function report<T extends WithStatus>(
  { statuses, events }: Reporters<T>,
  { about, status, events: planned }: Report<T>,
  options: CallOptions = {},
): Promise<void> {
  if (!(await statuses.write(about, status, options))) return;
  for (const { type, reason, note } of planned) events.event(about, type, reason, note);
}
