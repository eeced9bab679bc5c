import { missingFields } from '../../../api/missingFields.ts';
import { TRAFFIC_WATCHES } from '../../../api/trafficwatch/schema.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import { readPublishedSchema, type PublishedSchema } from '../../../runtime/client/openApi.ts';
import { resourceName } from '../../../runtime/client/resource.ts';
import type { Transport } from '../../../runtime/client/transport.ts';

/** How often is looked whether the CRD has changed; the answer is an index of some KiB: ms. */
export const LOOK_EVERY_MS = 60_000;
/** How soon after a look that had no answer: a CRD that was just made is published within seconds. */
const LOOK_AGAIN_MS = 5_000;
/** How long the API server drops a field at most before the schema that it publishes says so: ms. */
export const PUBLISHED_AFTER_MS = 10_000;
/** How many fields a note names; an event has room for 1 KiB. */
const NAMED_AT_MOST = 12;
/** For people: the ways to install the CRD of this version. */
export const APPLY_CRD = 'helm upgrade with crds.enabled=true, or kubectl apply --server-side -k deploy/crds';

export interface CrdCheckOptions {
  readonly transport: Pick<Transport, 'request'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Finds the fields of a TrafficWatch that the API server drops, since the installed CRD is older than this operator.
 * While there are some, every TrafficWatch is Stalled and nothing is written for it but its status. The schema that the
 * API server publishes is read: to read the CRD itself would need one right more.
 */
export class CrdCheck {
  readonly #options: CrdCheckOptions;
  #published: PublishedSchema | undefined;
  #missing: readonly string[] = [];
  #first: Promise<void> | undefined;
  #hasLooked = false;
  #looking: Promise<void> | undefined;
  #told = '';
  /** When a field that an object had was first seen to be gone, by the object's key. */
  readonly #goneSince = new Map<string, number>();

  constructor(options: CrdCheckOptions) {
    this.#options = options;
  }

  /** Paths such as `spec.label`; none before the schema was read. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  /** What is missing and what to do about it, for people; undefined when nothing is. */
  get problem(): string | undefined {
    if (this.#missing.length === 0) return undefined;
    const more = this.#missing.length - NAMED_AT_MOST;
    const fields = `${this.#missing.slice(0, NAMED_AT_MOST).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    return (
      `the CRD ${resourceName(TRAFFIC_WATCHES)} is older than the operator, and the API server drops ${fields}; ` +
      `apply the CRD of this version: ${APPLY_CRD}`
    );
  }

  /** Whether something was found to be missing, or the first look has not ended: nothing may be written then. */
  get isInTheWay(): boolean {
    return !this.#hasLooked || this.#missing.length > 0;
  }

  /** Resolves when the first look has ended, with or without an answer. */
  looked(): Promise<void> {
    this.#first ??= this.#tryLook().then(() => void (this.#hasLooked = true));
    return this.#first;
  }

  /** Looks every minute until `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await this.looked();
    for (;;) {
      await this.#options.clock.sleep(this.#published === undefined ? LOOK_AGAIN_MS : LOOK_EVERY_MS, signal);
      if (signal.aborted) return;
      await this.#tryLook();
    }
  }

  /**
   * Whether a field that an object had is gone since the API server drops it, and not since somebody took it away. The
   * API server drops by a new CRD at once, and publishes its schema later: until that can be relied on, it is dropped.
   *
   * @param object the key of the object that lacks the field
   * @throws TransportError when there was no answer; not where the schema may not be read, or is not published
   */
  async drops(field: string, object: string): Promise<boolean> {
    const now = this.#options.clock.monotonic();
    const since = this.#goneSince.get(object) ?? now;
    this.#goneSince.set(object, since);
    if (now - since < PUBLISHED_AFTER_MS) return true;
    await this.#refresh();
    return this.#missing.includes(field);
  }

  /** The object has the field, or is gone itself. */
  forget(object: string): void {
    this.#goneSince.delete(object);
  }

  /** Looks before a decision. Where the API server refuses, what was read before counts. */
  async #refresh(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#tellFailure(error);
    }
  }

  async #tryLook(): Promise<void> {
    await this.#look().catch((error: unknown) => this.#tellFailure(error));
  }

  /** However many ask, one looks. */
  #look(): Promise<void> {
    this.#looking ??= this.#read().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #read(): Promise<void> {
    const published = await readPublishedSchema(this.#options.transport, TRAFFIC_WATCHES, this.#published);
    if (published === undefined || published === this.#published) return;
    this.#published = published;
    this.#changeTo(missingFields(published.schema));
  }

  #changeTo(missing: readonly string[]): void {
    if (missing.join() === this.#missing.join()) return;
    this.#missing = missing;
    const { logger } = this.#options;
    if (this.problem === undefined) logger.info('the CRD has every field of this version');
    else logger.warn({ fields: missing }, this.problem);
  }

  #tellFailure(error: unknown): void {
    const message = error instanceof Error ? error.message : 'unknown error';
    if (message === this.#told) return;
    this.#told = message;
    this.#options.logger.info({ err: error }, 'whether the CRD is of this version could not be read');
  }
}
