import type { TargetRef } from '../../../../api/trafficwatch/spec/workload.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import type { Transport } from '../../../../runtime/client/transport.ts';
import type { Target } from '../observation.ts';
import { readTarget } from './target.ts';

/**
 * How long a selector is used before it is read again: ms. Selectors of apps/v1 are immutable, so only a target that was
 * deleted and created again has another one. The labels of a CronJob's pods can change: its new pods may wait this long.
 */
const FRESH_MS = 60_000;
/** The same while the target is unknown: its pods are unprotected, so the next pass asks again. */
const UNKNOWN_FRESH_MS = 5_000;

interface Kept {
  readonly ref: string;
  readonly target: Target;
  /** Monotonic time of the answer, ms. */
  readonly at: number;
}

/** The targets of TrafficWatches. Asks the API server at most once a minute for each, or every 5 s while unknown. */
export class Targets {
  readonly #requests: Pick<Transport, 'request'>;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(o: { transport: Pick<Transport, 'request'>; clock: Clock }) {
    this.#requests = o.transport;
    this.#clock = o.clock;
  }

  /**
   * The target of the TrafficWatch `key`.
   * @param key namespace/name
   */
  async targetOf(key: string, ref: TargetRef, signal?: AbortSignal): Promise<Target> {
    const text = JSON.stringify([ref.apiVersion, ref.kind, ref.name]);
    const kept = this.#kept.get(key);
    const before = kept?.ref === text ? kept : undefined;
    if (
      before &&
      this.#clock.monotonic() - before.at < (before.target.selector === undefined ? UNKNOWN_FRESH_MS : FRESH_MS)
    ) {
      return before.target;
    }
    const namespace = key.slice(0, key.indexOf('/'));
    const target = await readTarget(this.#requests, namespace, ref, signal);
    // After the answer: one that took long is not stale already.
    this.#kept.set(key, { ref: text, target, at: this.#clock.monotonic() });
    return target;
  }

  /** Call when the TrafficWatch of this key is deleted. */
  forget(key: string): void {
    this.#kept.delete(key);
  }
}
