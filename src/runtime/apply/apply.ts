import { createHash } from 'node:crypto';
import type { Client } from '../client/client.ts';
import type { Clock } from '../process/clock.ts';
import { APPLIED_HASH_ANNOTATION } from './appliedHash.ts';
import { differences } from './difference.ts';
import { ApiError, WaitingError } from '../client/errors.ts';
import type { Logger } from '../process/logger.ts';
import { isObject } from './mergePatch.ts';
import { Refusals } from './refusals.ts';
import { keyOf, resourceName, type KubeObject, type Resource } from '../client/resource.ts';

export { APPLIED_HASH_ANNOTATION } from './appliedHash.ts';
export { isSubset } from './difference.ts';

/** As many objects are remembered; the oldest are forgotten, which costs a needless apply at worst. */
const MOST_REMEMBERED = 10_000;

/** How soon to look again at an object that somebody else has made meanwhile. */
const LOOK_AGAIN_MS = 1_000;

export interface ApplierOptions {
  client: Client;
  /** One a controller: what it no longer applies is taken away by the API server. */
  fieldManager: string;
  logger: Logger;
  clock?: Clock;
}

export interface ApplyCall<T> {
  /** Done right before something is applied to an object that is there: to put field ownership in order, say. */
  prepare?: (found: T) => Promise<void>;
  /**
   * Takes nothing over that came between the look at `live` and the write: an object that is not there is made by POST,
   * and applied to by its uid. Where somebody else has made one of the name that is a WaitingError: another look is due.
   * What POST sets is not applied yet: `prepare` has to see to it that the fields become this field manager's.
   */
  takesNothingOver?: boolean;
  signal?: AbortSignal;
}

export interface Applied<T> {
  /** False when nothing had to be written. */
  written: boolean;
  /** The API server's answer, or the live object when nothing was written. */
  object: T;
}

/** What an apply came to, for the next look at the same object. */
interface Memory {
  uid: string | undefined;
  hash: string;
  /** The version that was replaced: while a cache still has it, it has not seen our write. */
  replacedVersion: string | undefined;
  /** Where the API server keeps another form of what we said. */
  normalised: string;
}

/**
 * Server-side apply of objects that this operator owns, force on: a field that we name is ours. It writes only when
 * something would change:
 *
 * | the live object                                   | written |
 * | ------------------------------------------------- | ------- |
 * | is not there                                      | yes     |
 * | has another applied hash (we want something else, or no longer want something) | yes |
 * | does not say what we want, though its hash is ours (drift) | yes |
 * | differs just as it did in the answer to our last apply (the API server keeps its own form of a value) | no |
 * | is the version that our last apply replaced (the cache is behind) | no |
 * | says what we want; others' fields do not matter   | no      |
 * | and what we want are as they were when the API server refused it (400, 413, 422) | no; the same error is thrown |
 */
export class Applier {
  readonly #client: Client;
  readonly #fieldManager: string;
  readonly #logger: Logger;
  readonly #memory = new Map<string, Memory>();
  readonly #refusals: Refusals;

  constructor(options: ApplierOptions) {
    this.#client = options.client;
    this.#fieldManager = options.fieldManager;
    this.#logger = options.logger;
    this.#refusals = new Refusals(options.clock);
  }

  /**
   * @param desired all that we want to own of the object, no more
   * @param live the object as the cache has it; undefined when there is none
   * @throws ApiError, TransportError, NotLeaderError, WaitingError when somebody else's came first
   */
  async apply<T extends KubeObject>(
    resource: Resource<T>,
    desired: T,
    live: T | undefined,
    call: ApplyCall<T> = {},
  ): Promise<Applied<T>> {
    const hash = appliedHash(desired);
    const stamped = stamp(desired, hash);
    const key = `${resourceName(resource)}/${keyOf(desired)}`;
    const found = live === undefined ? [] : differences(stamped, live);
    if (live !== undefined && this.#isDone(key, hash, live, found)) {
      return { written: false, object: live };
    }
    const send = (): Promise<T> =>
      call.takesNothingOver === true
        ? this.#sendToOwn(resource, { desired, stamped }, live, call)
        : this.#send(resource, stamped, live, call);
    const object = await this.#unlessRefused(key, hash, live, send);
    this.#remember(key, hash, live, object, stamped);
    this.#logger.info({ object: key, changed: found.map(pathOf) }, live === undefined ? 'created' : 'applied');
    return { written: true, object };
  }

  async #send<T extends KubeObject>(
    resource: Resource<T>,
    stamped: T,
    found: T | undefined,
    { prepare, signal }: ApplyCall<T>,
  ): Promise<T> {
    if (found !== undefined) await prepare?.(found);
    return this.#client.apply(resource, stamped, { fieldManager: this.#fieldManager, force: true, signal });
  }

  async #sendToOwn<T extends KubeObject>(
    resource: Resource<T>,
    { desired, stamped }: { desired: T; stamped: T },
    live: T | undefined,
    call: ApplyCall<T>,
  ): Promise<T> {
    const options = { fieldManager: this.#fieldManager, signal: call.signal };
    try {
      // Without the hash: should nothing follow, the next look finds an object that was never applied.
      const found = live ?? (await this.#client.create(resource, desired, options));
      return await this.#send(resource, withUid(stamped, found), found, call);
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      throw new WaitingError('Overtaken', `${keyOf(desired)} was made by somebody else`, LOOK_AGAIN_MS, {
        cause: error,
      });
    }
  }

  async #unlessRefused<T>(key: string, hash: string, live: KubeObject | undefined, send: () => Promise<T>): Promise<T> {
    const refusal = this.#refusals.recall(key, hash, live);
    if (refusal !== undefined) throw refusal;
    try {
      return await send();
    } catch (error) {
      this.#refusals.note(key, hash, live, error);
      throw error;
    }
  }

  #isDone(key: string, hash: string, live: KubeObject, found: readonly string[]): boolean {
    if (found.length === 0) {
      return true;
    }
    const memory = this.#memory.get(key);
    if (memory?.hash !== hash || memory.uid !== live.metadata?.uid) {
      return false;
    }
    const isBehind = live.metadata?.resourceVersion === memory.replacedVersion;
    return isBehind || memory.normalised === found.join('\n');
  }

  #remember(key: string, hash: string, live: KubeObject | undefined, answer: KubeObject, stamped: KubeObject): void {
    this.#memory.delete(key);
    this.#memory.set(key, {
      uid: answer.metadata?.uid,
      hash,
      replacedVersion: live?.metadata?.resourceVersion,
      normalised: differences(stamped, answer).join('\n'),
    });
    const [oldest] = this.#memory.keys();
    if (oldest !== undefined && this.#memory.size > MOST_REMEMBERED) {
      this.#memory.delete(oldest);
    }
  }
}

/**
 * A hash over an object as it is to be applied: the same whatever the order of its keys, another one when a field is
 * added, changed or taken away. The annotation that holds it does not count.
 *
 * @returns 32 hexadecimal digits
 */
export function appliedHash(object: KubeObject): string {
  const others = Object.entries(object.metadata?.annotations ?? {}).filter(([key]) => key !== APPLIED_HASH_ANNOTATION);
  const annotated = withAnnotations(object, others.length === 0 ? undefined : Object.fromEntries(others));
  return createHash('sha256').update(canonical(annotated)).digest('hex').slice(0, 32);
}

/** JSON with sorted keys, without what is undefined. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isObject(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item,
  );
}

function stamp<T extends KubeObject>(object: T, hash: string): T {
  return withAnnotations(object, { ...object.metadata?.annotations, [APPLIED_HASH_ANNOTATION]: hash });
}

function withAnnotations<T extends KubeObject>(object: T, annotations: Record<string, string> | undefined): T {
  const metadata: object = object.metadata ?? {};
  return { ...object, metadata: { ...metadata, annotations } };
}

function withUid<T extends KubeObject>(object: T, { metadata }: T): T {
  return { ...object, metadata: { ...(object.metadata as object), uid: metadata?.uid } };
}

/**
 * POST of a name that is taken: 409 AlreadyExists. An apply by uid: 409 Conflict where nothing is there any more, and
 * where another object is, 422, since a uid can't be changed.
 */
function isOvertaken(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const isOther = error.status === 422 && error.causes.some(({ field }) => field === 'metadata.uid');
  return isOther || error.reason === 'AlreadyExists' || (error.status === 409 && error.detail.includes('uid mismatch'));
}

/** Without the value, which may be a secret of the user's. */
function pathOf(difference: string): string {
  return difference.slice(0, difference.indexOf(': '));
}
