import { Reason } from '../../../api/trafficwatch/reasons.ts';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import type { CrdCheck } from '../observe/crdCheck.ts';

/** The API server keeps an event for an hour; what still stands then is told again: ms. */
const TELL_AGAIN_MS = 3_600_000;

interface Told {
  readonly uid: string | undefined;
  readonly problem: string;
  readonly at: number;
}

/** Tells each TrafficWatch by an event when the CRD lacks fields: once an hour, and when others are missing. */
export class CrdWarnings {
  readonly #crd: Pick<CrdCheck, 'problem'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #events: Pick<EventRecorder, 'event'>;
  readonly #told = new Map<string, Told>();

  constructor(o: {
    crd: Pick<CrdCheck, 'problem'>;
    clock: Pick<Clock, 'monotonic'>;
    events: Pick<EventRecorder, 'event'>;
  }) {
    this.#crd = o.crd;
    this.#clock = o.clock;
    this.#events = o.events;
  }

  /** To be called at every look at a TrafficWatch by the process that leads. */
  tell(watch: TrafficWatch): void {
    const { problem } = this.#crd;
    const key = keyOf(watch);
    if (problem === undefined) {
      this.#told.delete(key);
      return;
    }
    const { uid } = watch.metadata ?? {};
    const last = this.#told.get(key);
    const at = this.#clock.monotonic();
    if (last?.uid === uid && last?.problem === problem && at - last.at < TELL_AGAIN_MS) return;
    this.#told.set(key, { uid, problem, at });
    this.#events.event(watch, 'Warning', Reason.CrdOutdated, problem);
  }

  /** The TrafficWatch of this key is gone. */
  forget(key: string): void {
    this.#told.delete(key);
  }
}
