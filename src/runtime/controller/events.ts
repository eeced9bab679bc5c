import type { EventsV1Event } from '@kubernetes/client-node';
import type { Client } from '../client/client.ts';
import { systemClock, type Clock } from '../process/clock.ts';
import { isForbidden, isNotFound, NotLeaderError } from '../client/errors.ts';
import type { Logger } from '../process/logger.ts';
import { microTime } from '../client/microTime.ts';
import type { KubeObject, ObjectRef, Resource } from '../client/resource.ts';
import { EVENTS } from '../client/resources.ts';

/** A repeat within this time of the last one is counted in the event that is there. */
const SERIES_MS = 10 * 60_000;

/** Events that wait to be written; beyond that they are dropped: an API server that is ill must not fill our memory. */
const MOST_WAITING = 1000;

/** Events whose repeats are recognised; the ones longest unseen are forgotten. */
const MOST_REMEMBERED = 5000;

// Limits of pkg/apis/core/validation/events.go.
const LONGEST_NOTE_BYTES = 1024;
const LONGEST_FIELD = 128;
const LONGEST_NAME = 253;

/** The event as JSON has it: client-node's type has a class of its own for the times. */
interface Event extends KubeObject, Omit<EventsV1Event, keyof KubeObject | 'eventTime' | 'series'> {
  eventTime: string;
  series?: { count: number; lastObservedTime: string };
}

/** What becomes of events. */
export interface EventMetrics {
  written(type: 'Normal' | 'Warning', reason: string): void;
  /** Not written: `cause` is 'full' (too many wait), 'failed' (the API server did not take it), 'standby'. */
  dropped(cause: 'full' | 'failed' | 'standby'): void;
}

export interface EventRecorderOptions {
  client: Client;
  /** Who reports: 'traffic.example.com/traffic-operator', a qualified name. */
  component: string;
  /** Which of its processes: the pod's name. */
  instance: string;
  logger: Logger;
  metrics?: EventMetrics;
  clock?: Clock;
}

interface Occurrence {
  readonly key: string;
  readonly about: KubeObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
  readonly action: string;
  /** When it was last seen, wall clock milliseconds. */
  seenAt: number;
  count: number;
  isWaiting: boolean;
  /** The event that counts it, once that is written. */
  ref?: ObjectRef;
}

/**
 * Tells users what happened to an object, as events.k8s.io/v1. Fire and forget: an event never holds up or fails what
 * it tells of. The same about the same object again within 10 minutes raises the count of the event's series.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  /** Oldest sighting first. */
  readonly #seen = new Map<string, Occurrence>();
  readonly #waiting: Occurrence[] = [];
  #writing: Promise<void> | undefined;
  /** The last one met with a 403: that is told once, however many are lost. */
  #forbidden = false;
  #lastStamp = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Never throws and does not wait.
   *
   * @param about the object, with kind and metadata
   * @param reason CamelCase, at most 128 characters
   * @param note for people; cut at 1 KiB
   * @param action CamelCase: what was being done
   */
  event(about: KubeObject, type: 'Normal' | 'Warning', reason: string, note: string, action = 'Reconcile'): void {
    const occurrence = this.#occurrenceOf({ about, type, reason, note, action });
    occurrence.seenAt = this.#clock.now();
    occurrence.count++;
    this.#seen.delete(occurrence.key);
    this.#seen.set(occurrence.key, occurrence);
    this.#forgetOldest();
    this.#enqueue(occurrence);
  }

  /** Resolves when nothing waits to be written any more. */
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
      : { ...told, key, seenAt: 0, count: 0, isWaiting: false };
  }

  #forgetOldest(): void {
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined && this.#seen.size > MOST_REMEMBERED) {
      this.#seen.delete(oldest);
    }
  }

  #enqueue(occurrence: Occurrence): void {
    if (occurrence.isWaiting) {
      return;
    }
    if (this.#waiting.length >= MOST_WAITING) {
      this.#options.metrics?.dropped('full');
      return;
    }
    occurrence.isWaiting = true;
    this.#waiting.push(occurrence);
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      next.isWaiting = false;
      await this.#write(next);
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

  /** @returns false when the event is gone: the API server keeps events for an hour */
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
      // Events about what has no namespace belong into 'default', or they are refused.
      metadata: { name: this.#nameFor(name), namespace: namespace ?? 'default' },
      eventTime: microTime(seenAt),
      reportingController: component,
      reportingInstance: instance.slice(0, LONGEST_FIELD),
      action: action.slice(0, LONGEST_FIELD),
      reason: reason.slice(0, LONGEST_FIELD),
      regarding: { apiVersion: about.apiVersion, kind: about.kind, name, namespace, uid, resourceVersion },
      note: cut(note),
      type,
      series: count > 1 ? seriesOf(occurrence) : undefined,
    };
  }

  /** The object's name and a stamp in microseconds that no two events of this process share, as client-go has it. */
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

/** As much of a text as fits into the note's bytes, whole characters only. */
function cut(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= LONGEST_NOTE_BYTES) {
    return note;
  }
  const ellipsis = '…';
  const room = LONGEST_NOTE_BYTES - Buffer.byteLength(ellipsis);
  return `${new TextDecoder().decode(bytes.subarray(0, room), { stream: true })}${ellipsis}`;
}
