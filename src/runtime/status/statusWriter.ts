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

/** Writes the status of one kind's objects: what differs, by a merge patch of the status subresource. */
export class StatusWriter<T extends WithStatus> {
  readonly #options: StatusWriterOptions<T>;
  readonly #kept = new KeptStatuses<T>();

  constructor(options: StatusWriterOptions<T>) {
    this.#options = options;
  }

  /** The object as it is now, with the status that was last written; undefined where there is none. */
  newest(key: string): T | undefined {
    const object = this.#options.objects.get(key);
    return object && this.#kept.asMeant(object);
  }

  /**
   * Compares the status with the one that the object has now, which this reconcile or another writer may have changed
   * since it was read, and patches the difference. What the API server dropped earlier is sent again, but only when
   * something else differs, too: its CRD may be newer by now.
   *
   * @param about the object that the status was decided for
   * @returns whether something was written: not where nothing differs, or where the object is gone or was made anew
   * @throws WaitingError when somebody else wrote the object meanwhile; ApiError, TransportError
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

  /** The object of this key is gone. */
  forget(key: string): void {
    this.#kept.forget(key);
  }

  /** @returns the object as it is then; undefined when there is none any more */
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
