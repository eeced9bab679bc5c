import type { Client } from '../client/client.ts';
import { type Clock, systemClock } from '../process/clock.ts';
import {
  APPLIED_HASH_ANNOTATION,
  appliedHash,
  differences,
  NOT_APPLIED_YET,
  removalPatch,
  withAnnotations,
} from './difference.ts';
import { ApiError, WaitingError, isInvalid } from '../client/errors.ts';
import type { Logger } from '../process/logger.ts';
import { keyOf, resourceName, type KubeObject, type Resource } from '../client/resource.ts';

export { APPLIED_HASH_ANNOTATION, appliedHash, isSubset, NOT_APPLIED_YET } from './difference.ts';

/** Maximum of remembered objects. The oldest are forgotten, which costs at most one unnecessary apply each. */
const MOST_REMEMBERED = 10_000;

/** Delay before the next reconcile if another client created the object first. */
const LOOK_AGAIN_MS = 1_000;

interface ApplierOptions {
  client: Client;
  /** A separate one for each controller: the API server removes the fields that it no longer applies. */
  fieldManager: string;
  logger: Logger;
  /** Level of the line for each write; default: info. For a controller that logs thousands of writes in one line. */
  logLevel?: 'debug' | 'info';
  clock?: Clock;
}

export interface ApplyCall<T> {
  /** Called right before an apply to an existing object, for example to correct field ownership. */
  prepare?: (found: T) => Promise<void>;
  /**
   * Called right before an apply that corrects what others have changed: the live object has the hash of the desired one.
   *
   * @param paths paths of the values that differ, in the form of `differences`
   */
  onDrift?: (paths: readonly string[]) => Promise<void>;
  /**
   * Never takes over an object that another client created after `live` was read: creates an absent object with POST,
   * and applies with the uid of the object. If another client was first, throws WaitingError, and the next reconcile
   * decides again. The fields of a POST are not applied fields: `prepare` must transfer them to this field manager.
   */
  takesNothingOver?: boolean;
  /**
   * With `takesNothingOver`: creates an absent object with an apply without force instead of POST, so that all its fields are applied
   * fields. If another client created the object first, the apply conflicts with its fields and changes nothing, unless all values
   * are equal: then it takes the object over.
   */
  createsByApply?: boolean;
  signal?: AbortSignal;
}

interface Applied<T> {
  /** False if no write was necessary. */
  written: boolean;
  /** The object in the API server's response, or the live object if nothing was written. */
  object: T;
}

/** The result of an apply, for the next apply of the same object. */
interface Memory {
  uid: string | undefined;
  hash: string;
  /** The resource version that the apply replaced. While the cache has it, the cache is stale. */
  replacedVersion: string | undefined;
  /** Differences between the desired object and the response: the API server stores these values in another form. */
  normalised: string;
}

/**
 * Server-side apply of objects that this operator owns. It sets `force`, so this field manager takes over every field
 * of the desired object. It writes only if something would change:
 *
 * | the live object                                   | written |
 * | ------------------------------------------------- | ------- |
 * | does not exist                                    | yes     |
 * | has another applied hash: the desired object changed | yes  |
 * | has the same hash, but other values (drift)       | yes     |
 * | differs exactly as in the response to the last apply (the API server stores another form of a value) | no |
 * | has the version that the last apply replaced (the cache is stale) | no |
 * | has all desired values; fields of others are ignored | no   |
 * | and the desired object are unchanged since the API server rejected it (400, 413, 422) | no; throws the same error |
 */
export class Applier {
  readonly #client: Client;
  readonly #fieldManager: string;
  readonly #logger: Logger;
  readonly #logLevel: 'debug' | 'info';
  readonly #memory = new Map<string, Memory>();
  readonly #refusals: Refusals;

  constructor(options: ApplierOptions) {
    this.#client = options.client;
    this.#fieldManager = options.fieldManager;
    this.#logger = options.logger;
    this.#logLevel = options.logLevel ?? 'info';
    this.#refusals = new Refusals(options.clock);
  }

  /**
   * @param desired exactly the fields that this field manager should own
   * @param live the cached object; undefined if it does not exist
   * @throws ApiError, TransportError, NotLeaderError; WaitingError if another client created the object first
   */
  async apply<T extends KubeObject>(
    resource: Resource<T>,
    desired: T,
    live: T | undefined,
    call: ApplyCall<T> = {},
  ): Promise<Applied<T>> {
    const hash = appliedHash(desired);
    const stamped = stamp(desired, hash);
    const key = memoryKeyOf(resource, desired);
    // Before the comparison: a rejected object of a user may be large, and each reconcile would compare it again.
    const refusal = this.#refusals.recall(key, hash, live);
    if (refusal !== undefined) throw refusal;
    const found = live === undefined ? [] : differences(stamped, live);
    if (live !== undefined && this.#isDone(key, hash, live, found)) {
      return { written: false, object: live };
    }
    const send = async (): Promise<T> => {
      if (live?.metadata?.annotations?.[APPLIED_HASH_ANNOTATION] === hash) await call.onDrift?.(found.map(pathOf));
      return call.takesNothingOver === true
        ? this.#sendToOwn(resource, { desired, stamped }, live, call)
        : this.#send(resource, stamped, live, call);
    };
    const object = await this.#notingRefusal(key, hash, live, send);
    this.#remember(key, hash, live, object, stamped);
    const what = live === undefined ? 'created' : 'applied';
    this.#logger[this.#logLevel]({ object: key, changed: found.map(pathOf) }, what);
    return { written: true, object };
  }

  /** True if `apply` of the same objects would return without a request, because nothing differs. */
  isUpToDate<T extends KubeObject>(resource: Resource<T>, desired: T, live: T | undefined): boolean {
    if (live === undefined) return false;
    const hash = appliedHash(desired);
    return this.#isDone(memoryKeyOf(resource, desired), hash, live, differences(stamp(desired, hash), live));
  }

  async #send<T extends KubeObject>(
    resource: Resource<T>,
    stamped: T,
    found: T | undefined,
    { prepare, signal }: ApplyCall<T>,
  ): Promise<T> {
    if (found !== undefined) await prepare?.(found);
    const removal = removalPatch(stamped, found);
    if (removal !== undefined) {
      // The uid refuses the patch for another object that has the name by now.
      const patch = { ...removal, metadata: { ...(removal.metadata as object), uid: found?.metadata?.uid } };
      const { namespace, name = '' } = stamped.metadata ?? {};
      const options = { fieldManager: this.#fieldManager, signal };
      await this.#client.mergePatch(resource, { namespace, name }, patch, options);
    }
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
      if (live === undefined && call.createsByApply === true)
        return await this.#client.apply(resource, stamped, options);
      // Create with NOT_APPLIED_YET: if the apply does not follow, the next reconcile detects this, and that the object is ours.
      const created = () => this.#client.create(resource, stamp(desired, NOT_APPLIED_YET), options);
      const found = live ?? (await created());
      return await this.#send(resource, withUid(stamped, found), found, call);
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      throw new WaitingError('Overtaken', `another client created ${keyOf(desired)} first`, LOOK_AGAIN_MS, {
        cause: error,
      });
    }
  }

  async #notingRefusal<T>(key: string, hash: string, live: KubeObject | undefined, send: () => Promise<T>): Promise<T> {
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

function memoryKeyOf<T extends KubeObject>(resource: Resource<T>, object: T): string {
  return `${resourceName(resource)}/${keyOf(object)}`;
}

function stamp<T extends KubeObject>(object: T, hash: string): T {
  return withAnnotations(object, { ...object.metadata?.annotations, [APPLIED_HASH_ANNOTATION]: hash });
}

function withUid<T extends KubeObject>(object: T, { metadata }: T): T {
  return { ...object, metadata: { ...(object.metadata as object), uid: metadata?.uid } };
}

/**
 * True if another client created or deleted the object first. POST then returns 409 AlreadyExists, and an apply without force
 * 409 Conflict with its fields. An apply with uid
 * returns 409 Conflict if the object is gone, and 422 if another object has the name, because a uid is immutable.
 */
function isOvertaken(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const isOther = error.status === 422 && error.causes.some(({ field }) => field === 'metadata.uid');
  const isConflict = error.status === 409 && /uid mismatch|Apply failed with [0-9]+ conflict/.test(error.detail);
  return isOther || error.reason === 'AlreadyExists' || isConflict;
}

/** The path of a difference, without the value, which may be a secret. */
function pathOf(difference: string): string {
  return difference.slice(0, difference.indexOf(': '));
}

/**
 * Time before a rejected apply is sent again, milliseconds. It is limited, because a policy may have rejected the
 * object: a change of the policy does not change the object.
 */
export const REFUSAL_MS = 10 * 60_000;

interface Refusal {
  readonly hash: string;
  readonly state: string;
  readonly error: ApiError;
  readonly untilMs: number;
}

/**
 * Remembers applies that the API server rejected as invalid (400, 413, 422), so that they are not sent again in each
 * pass. Keeps one refusal per object, until the desired or the live object changes, or REFUSAL_MS have passed.
 */
class Refusals {
  readonly #clock: Clock;
  readonly #byKey = new Map<string, Refusal>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /**
   * The error of the same apply, if it is still valid.
   *
   * @param hash hash of the desired object
   * @param live the cached object
   */
  recall(key: string, hash: string, live: KubeObject | undefined): ApiError | undefined {
    const known = this.#byKey.get(key);
    if (known?.hash === hash && known.state === stateOf(live) && this.#clock.monotonic() < known.untilMs) {
      return known.error;
    }
    this.#byKey.delete(key);
    return undefined;
  }

  /** Remembers the error if the API server rejected the object as invalid. Other errors may be transient. */
  note(key: string, hash: string, live: KubeObject | undefined, error: unknown): void {
    if (!isInvalid(error)) return;
    const now = this.#clock.monotonic();
    // Remove expired entries here, because deleted objects are not recalled again.
    for (const [other, { untilMs }] of this.#byKey) if (untilMs <= now) this.#byKey.delete(other);
    this.#byKey.set(key, { hash, state: stateOf(live), error, untilMs: now + REFUSAL_MS });
  }
}

/** Identifies the object and its spec. Uses the generation, which does not change with the status. */
function stateOf(live: KubeObject | undefined): string {
  const { uid, generation, resourceVersion } = live?.metadata ?? {};
  return `${uid ?? ''}/${generation ?? resourceVersion ?? ''}`;
}
