import { diffMergePatch } from '../apply/mergePatch.ts';
import type { Overlay } from '../cache/overlay.ts';
import type { CallOptions, Client } from '../client/client.ts';
import { isNotFound } from '../client/errors.ts';
import { keyOf, refOfKey, type Resource } from '../client/resource.ts';
import { KeptStatuses, type StatusOf, type WithStatus } from './keptStatuses.ts';
import { rethrowOvertaken } from './writeFailures.ts';

export interface StatusWriterOptions<T extends WithStatus> {
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
    this.#kept.wrote(status, answer);
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
