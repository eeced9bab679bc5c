import type { EventsV1Event } from '@kubernetes/client-node';
import { Busiest, FairQueue, TokenBuckets, type Allowance } from '../async/limit.ts';
import type { Client } from '../client/client.ts';
import { systemClock, type Clock } from '../process/clock.ts';
import { isForbidden, isNotFound, NotLeaderError } from '../client/errors.ts';
import type { Logger } from '../process/logger.ts';
import { microTime, type KubeObject, type ObjectRef, type Resource } from '../client/resource.ts';
import { EVENTS } from '../client/resources.ts';

/** A repeat within this time after the last occurrence increases the count of the existing event. */
const SERIES_MS = 10 * 60_000;

/**
 * Maximum of events that wait to be written: with a note of 1 KiB each, 10 MiB. Beyond it, a namespace with fewer waiting events takes
 * the place of the newest event of the namespace with most.
 */
const MOST_WAITING = 10_000;

/**
 * The events about the objects of one namespace. 200 TrafficWatches give at most 5,000 in one pass: ten nodes that turn unfit, ten that
 * turn fit, and five conditions each. The permanent rate keeps the events of a namespace below 12,200 within the hour for which the API server keeps
 * them. client-go allows 25, and then one in 300 s, but for each object, so that many objects have no common limit:
 * https://github.com/kubernetes/client-go/blob/master/tools/record/events_cache.go
 */
const ALLOWANCE: Allowance = { burst: 5_000, perSecond: 2 };

/** Anyone who may create namespaces chooses the keys of allowances. */
const MOST_GROUPS = 10_000;

/** One log line about dropped events of a namespace in 10 minutes. */
const LOGGED: Allowance = { burst: 1, perSecond: 1 / 600 };

/** Maximum of remembered events, to detect repeats. The least recent ones are dropped. */
const MOST_REMEMBERED = 5000;

// Limits of pkg/apis/core/validation/events.go.
const LONGEST_NOTE_BYTES = 1024;
const LONGEST_FIELD = 128;
const LONGEST_NAME = 253;

/** An event in JSON; client-node's type uses its own class for times. */
interface Event extends KubeObject, Omit<EventsV1Event, keyof KubeObject | 'eventTime' | 'series'> {
  eventTime: string;
  series?: { count: number; lastObservedTime: string };
}

/** Metrics of events. */
export interface EventMetrics {
  written(type: 'Normal' | 'Warning', reason: string): void;
  /**
   * An event was not written. 'allowance': its namespace has used its allowance; 'full': too many wait; 'failed': the write failed;
   * 'standby': not the leader.
   */
  dropped(cause: 'allowance' | 'full' | 'failed' | 'standby'): void;
}

interface EventRecorderOptions {
  client: Client;
  /** The reporting controller, a qualified name: 'traffic.example.com/traffic-operator'. */
  component: string;
  /** The reporting instance: the name of the pod. */
  instance: string;
  logger: Logger;
  metrics?: EventMetrics;
  clock?: Clock;
}

interface Occurrence {
  readonly key: string;
  /** Only what an event says of the object: thousands are remembered, and an object may have 1 MiB. */
  readonly about: KubeObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
  readonly action: string;
  /** Time of the last occurrence, milliseconds since 1970. */
  seenAt: number;
  count: number;
  isWaiting: boolean;
  /** The written event. Undefined until it is written. */
  ref?: ObjectRef;
}

/** Returns the part of an object that an event says of it. */
function subjectOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata ?? {};
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } };
}

/** Returns the namespace of an object, or a cluster-scoped object itself: each group has its own allowance and turns. */
function groupOf({ kind, metadata }: KubeObject): string {
  return metadata?.namespace ?? `${kind}/${metadata?.name}`;
}

/**
 * Writes events (events.k8s.io/v1) about objects, for users. Writes them in the background: an event never delays or
 * fails its caller. The same event about the same object within 10 minutes increases the count of the series. Namespaces take turns,
 * and each has an allowance: the events of one namespace drop and delay none of another.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  /** Least recent first. */
  readonly #seen = new Map<string, Occurrence>();
  readonly #queue = new FairQueue<Occurrence>();
  /** Groups by their number of waiting events. */
  readonly #busiest = new Busiest<string>();
  #waiting = 0;
  readonly #allowances: TokenBuckets;
  readonly #logged: TokenBuckets;
  #writing: Promise<void> | undefined;
  /** True if the last write was rejected with 403, which is logged once. */
  #forbidden = false;
  #lastStamp = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#allowances = new TokenBuckets(this.#clock, { mostKeys: MOST_GROUPS });
    this.#logged = new TokenBuckets(this.#clock, { mostKeys: MOST_GROUPS });
  }

  /**
   * Records an event. Never throws and does not wait for the write.
   *
   * @param about the object, with kind and metadata
   * @param reason CamelCase, at most 128 characters
   * @param note message for users; cut at 1 KiB
   * @param action CamelCase: the action of the controller
   */
  event(about: KubeObject, type: 'Normal' | 'Warning', reason: string, note: string, action = 'Reconcile'): void {
    const occurrence = this.#occurrenceOf({ about, type, reason, note: cut(note), action });
    if (!occurrence.isWaiting && !this.#enqueue(occurrence)) return;
    occurrence.seenAt = this.#clock.now();
    occurrence.count++;
    this.#seen.delete(occurrence.key);
    this.#seen.set(occurrence.key, occurrence);
    this.#forgetOldest();
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when all recorded events were written or dropped. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) {
      await this.#writing;
    }
  }

  #occurrenceOf(told: Pick<Occurrence, 'about' | 'type' | 'reason' | 'note' | 'action'>): Occurrence {
    const { uid, namespace, name } = told.about.metadata ?? {};
    const key = JSON.stringify([uid ?? [told.about.kind, namespace, name], told.type, told.reason, told.note]);
    const before = this.#seen.get(key);
    return before !== undefined && this.#clock.now() - before.seenAt <= SERIES_MS
      ? before
      : { ...told, about: subjectOf(told.about), key, seenAt: 0, count: 0, isWaiting: false };
  }

  #forgetOldest(): void {
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined && this.#seen.size > MOST_REMEMBERED) {
      this.#seen.delete(oldest);
    }
  }

  /** @returns false if the event is dropped */
  #enqueue(occurrence: Occurrence): boolean {
    const group = groupOf(occurrence.about);
    if (!this.#allowances.take(group, ALLOWANCE)) return this.#drop(group, 'allowance');
    if (this.#waiting >= MOST_WAITING && !this.#makeRoom(group)) return this.#drop(group, 'full');
    occurrence.isWaiting = true;
    this.#queue.add(group, occurrence);
    this.#busiest.add(group);
    this.#waiting++;
    return true;
  }

  /** Drops the newest event of the group with most waiting events, if that has more than `group` would have. */
  #makeRoom(group: string): boolean {
    const most = this.#busiest.first;
    if (most === undefined || this.#busiest.of(most) <= this.#busiest.of(group) + 1) return false;
    const newest = this.#queue.takeNewest(most);
    if (newest === undefined) return false;
    this.#leave(most, newest);
    this.#drop(most, 'full');
    return true;
  }

  #leave(group: string, occurrence: Occurrence): void {
    occurrence.isWaiting = false;
    this.#busiest.remove(group);
    this.#waiting--;
  }

  #drop(group: string, cause: 'allowance' | 'full'): false {
    this.#options.metrics?.dropped(cause);
    if (this.#logged.take(group, LOGGED)) this.#options.logger.warn({ about: group, cause }, 'events are dropped');
    return false;
  }

  async #writeAll(): Promise<void> {
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) {
      this.#leave(next.group, next.item);
      await this.#write(next.item);
    }
    this.#writing = undefined;
  }

  async #write(occurrence: Occurrence): Promise<void> {
    try {
      if (occurrence.ref === undefined || !(await this.#raiseCount(occurrence, occurrence.ref))) {
        occurrence.ref = await this.#create(occurrence);
      }
      this.#forbidden = false;
      this.#options.metrics?.written(occurrence.type, occurrence.reason);
    } catch (error) {
      this.#options.metrics?.dropped(error instanceof NotLeaderError ? 'standby' : 'failed');
      this.#logLost(occurrence, error);
    }
  }

  #logLost({ reason }: Occurrence, error: unknown): void {
    const forbidden = isForbidden(error);
    const level = forbidden && !this.#forbidden ? 'warn' : 'debug';
    this.#forbidden = forbidden;
    this.#options.logger[level]({ err: error, reason }, 'event not written');
  }

  /** @returns false if the event no longer exists: the API server keeps events for an hour by default */
  async #raiseCount(occurrence: Occurrence, ref: ObjectRef): Promise<boolean> {
    const patch = { series: seriesOf(occurrence) };
    try {
      await this.#options.client.mergePatch(EVENTS, ref, patch, { fieldManager: fieldManagerOf(this.#options) });
      return true;
    } catch (error) {
      if (isNotFound(error)) {
        return false;
      }
      throw error;
    }
  }

  async #create(occurrence: Occurrence): Promise<ObjectRef> {
    const event = this.#eventOf(occurrence);
    await this.#options.client.create(EVENTS as Resource as Resource<Event>, event);
    const { name = '', namespace } = event.metadata ?? {};
    return { name, namespace };
  }

  #eventOf(occurrence: Occurrence): Event {
    const { about, type, reason, note, action, seenAt, count } = occurrence;
    const { name = '', namespace, uid, resourceVersion } = about.metadata ?? {};
    const { component, instance } = this.#options;
    return {
      // The API server requires the namespace 'default' for events about cluster-scoped objects.
      metadata: { name: this.#nameFor(name), namespace: namespace ?? 'default' },
      eventTime: microTime(seenAt),
      reportingController: component,
      reportingInstance: instance.slice(0, LONGEST_FIELD),
      action: action.slice(0, LONGEST_FIELD),
      reason: reason.slice(0, LONGEST_FIELD),
      regarding: { apiVersion: about.apiVersion, kind: about.kind, name, namespace, uid, resourceVersion },
      note,
      type,
      series: count > 1 ? seriesOf(occurrence) : undefined,
    };
  }

  /** The object's name and a time stamp in microseconds, unique in this process, like client-go. */
  #nameFor(name: string): string {
    this.#lastStamp = Math.max(this.#clock.now() * 1000, this.#lastStamp + 1);
    const stamp = this.#lastStamp.toString(16);
    const prefix = name.slice(0, LONGEST_NAME - stamp.length - 1).replace(/[^a-z0-9]+$/, '');
    return `${prefix}.${stamp}`;
  }
}

function seriesOf({ count, seenAt }: Occurrence): { count: number; lastObservedTime: string } {
  return { count, lastObservedTime: microTime(seenAt) };
}

function fieldManagerOf({ component }: EventRecorderOptions): string {
  return component.slice(component.lastIndexOf('/') + 1);
}

/** Shortens a text to the size limit of a note, without cutting a character. */
function cut(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= LONGEST_NOTE_BYTES) {
    return note;
  }
  const ellipsis = '…';
  const room = LONGEST_NOTE_BYTES - Buffer.byteLength(ellipsis);
  return `${new TextDecoder().decode(bytes.subarray(0, room), { stream: true })}${ellipsis}`;
}
