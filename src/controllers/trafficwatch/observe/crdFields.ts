import { firstOf, findCondition } from '../../../runtime/controller/conditions.ts';
import { APPLY_CRD } from '../../../api/crd.ts';
import { missingFields, lostFields } from '../../../api/missingFields.ts';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import { readPublishedSchema, type PublishedSchema } from '../../../runtime/client/openApi.ts';
import { resourceName, keyOf } from '../../../runtime/client/resource.ts';
import type { Transport } from '../../../runtime/client/transport.ts';
import { ConditionType, Reason } from '../../../api/trafficwatch/reasons.ts';

/** How often to check whether the CRD has changed: ms. The response is an index of some KiB. */
export const LOOK_EVERY_MS = 60_000;
/** How soon to check again while no schema was read: ms. A new CRD is published within seconds. */
const LOOK_AGAIN_MS = 5_000;
/** Maximum delay between a CRD change and the published schema: ms. The API server drops fields at once. */
export const PUBLISHED_AFTER_MS = 10_000;
/** Maximum number of dropped fields in a message. The note of an event holds 1 KiB; the longest path has 30 characters. */
const NAMED_AT_MOST = 20;

interface CrdCheckOptions {
  readonly transport: Pick<Transport, 'request'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Finds the fields of a TrafficWatch that the API server drops because the installed CRD is older than the operator.
 * While there are any, every TrafficWatch is Stalled, and only its status is written. Reads the schema that the API
 * server publishes, because reading the CRD itself would need another right.
 */
export class CrdCheck {
  readonly #options: CrdCheckOptions;
  #published: PublishedSchema | undefined;
  #missing: readonly string[] = [];
  #first: Promise<void> | undefined;
  #hasLooked = false;
  #looking: Promise<void> | undefined;
  #lastFailure = '';
  /** When a field was first seen missing from an object, by field and key of the object. */
  readonly #goneSince = new Map<string, number>();

  constructor(options: CrdCheckOptions) {
    this.#options = options;
  }

  /** Paths of the dropped fields, such as `spec.label`. Empty before the schema was read. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  /** A message for users: the missing fields and what to do. Undefined if no field is missing. */
  get problem(): string | undefined {
    if (this.#missing.length === 0) return undefined;
    const fields = firstOf(this.#missing, NAMED_AT_MOST);
    return (
      `the CRD ${resourceName(TRAFFIC_WATCHES)} is older than the operator, and the API server drops ${fields}; ` +
      `apply the CRD of this version: ${APPLY_CRD}`
    );
  }

  /** True if nothing may be written: a field is missing, or the first check has not ended. */
  get isInTheWay(): boolean {
    return !this.#hasLooked || this.#missing.length > 0;
  }

  /** Starts the first check if needed. Resolves when it has ended, successfully or not. */
  looked(): Promise<void> {
    this.#first ??= this.#tryLook().then(() => void (this.#hasLooked = true));
    return this.#first;
  }

  /** Checks every minute until `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await this.looked();
    for (;;) {
      await this.#options.clock.sleep(this.#published === undefined ? LOOK_AGAIN_MS : LOOK_EVERY_MS, signal);
      if (signal.aborted) return;
      await this.#tryLook();
    }
  }

  /**
   * Whether a field is missing from an object because the API server drops it, not because a user removed it. After a
   * CRD change, the API server drops fields at once but publishes the schema later. Returns true for
   * PUBLISHED_AFTER_MS.
   *
   * @param field path such as `spec.label`
   * @param object the key of the object that lacks the field
   * @throws TransportError if the API server does not answer; not if the schema is forbidden or not published
   */
  async drops(field: string, object: string): Promise<boolean> {
    const now = this.#options.clock.monotonic();
    const gone = `${field} ${object}`;
    const since = this.#goneSince.get(gone) ?? now;
    this.#goneSince.set(gone, since);
    if (now - since < PUBLISHED_AFTER_MS) return true;
    await this.refresh();
    return this.#missing.includes(field);
  }

  /** Call when the object has the field, or is deleted. */
  forget(field: string, object: string): void {
    this.#goneSince.delete(`${field} ${object}`);
  }

  /**
   * Checks now, before a decision. If the API server refuses, the last schema that was read counts.
   * @throws TransportError if the API server does not answer
   */
  async refresh(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#logFailure(error);
    }
  }

  async #tryLook(): Promise<void> {
    await this.#look().catch((error: unknown) => this.#logFailure(error));
  }

  /** Concurrent calls share one check. */
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

  #logFailure(error: unknown): void {
    const message = error instanceof Error ? error.message : 'unknown error';
    if (message === this.#lastFailure) return;
    this.#lastFailure = message;
    this.#options.logger.info(
      { err: error },
      'cannot check whether the CRD is of this version: its schema cannot be read',
    );
  }
}

/** Maximum number of lost fields in a message. */
const LOST_NAMED_AT_MOST = 10;

interface Seen {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  readonly spec: TrafficWatch['spec'];
}

/**
 * Remembers the spec of each TrafficWatch, to find fields that are missing although nobody removed them. A user who
 * changes a spec gets a new generation. A CRD that is replaced by an older one drops fields of the same generation:
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning. The
 * next write of the object, such as a write of its status, drops them from the storage too, so they stay lost when the
 * CRD has them again.
 */
export class SpecMemory {
  readonly #seen = new Map<string, Seen>();

  /**
   * The problem of a spec that has lost fields, for users. Undefined if it has lost none.
   *
   * | spec, compared with the one seen last                | condition Stalled            | result                |
   * |------------------------------------------------------|------------------------------|-----------------------|
   * | another object or generation                         | any                          | none: a user changed it |
   * | the same generation, without some of the fields      | any                          | names the fields      |
   * | the same generation, with all fields                 | any                          | none                  |
   * | not seen yet by this process                         | SpecFieldsLost, same generation | as the condition says |
   * | not seen yet by this process                         | any other                    | none                  |
   *
   * @param isComplete whether the CRD is known to keep all fields; otherwise the spec is not remembered
   */
  problemOf(watch: TrafficWatch, isComplete: boolean): string | undefined {
    const { uid, generation, deletionTimestamp } = watch.metadata ?? {};
    if (deletionTimestamp !== undefined || generation === undefined) return undefined;
    const key = keyOf(watch);
    const seen = this.#seen.get(key);
    const isSame = seen !== undefined && seen.uid === uid && seen.generation === generation;
    if (!isSame) {
      const reported = reportedProblem(watch);
      if (isComplete && reported === undefined) this.#seen.set(key, { uid, generation, spec: watch.spec });
      return reported;
    }
    // The same object in most passes.
    if (seen.spec === watch.spec) return undefined;
    const lost = lostFields(seen.spec, watch.spec, 'spec');
    if (lost.length > 0) return messageOf(lost);
    if (isComplete) this.#seen.set(key, { uid, generation, spec: watch.spec });
    return undefined;
  }

  /** Call when the TrafficWatch of this key is deleted. */
  forget(key: string): void {
    this.#seen.delete(key);
  }
}

/** Returns the problem that an earlier process has reported about this generation. */
function reportedProblem({ metadata, status }: TrafficWatch): string | undefined {
  const stalled = findCondition(status?.conditions, ConditionType.Stalled);
  const isReported = stalled?.status === 'True' && stalled.reason === Reason.SpecFieldsLost;
  return isReported && stalled.observedGeneration === metadata?.generation ? stalled.message : undefined;
}

function messageOf(lost: readonly string[]): string {
  const fields = firstOf(lost, LOST_NAMED_AT_MOST);
  return `the API server dropped ${fields}, because the CRD was replaced by an older one; if it still is, apply the CRD of this version: ${APPLY_CRD}; then apply the TrafficWatch again`;
}
