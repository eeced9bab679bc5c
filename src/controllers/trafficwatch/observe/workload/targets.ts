import { Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { TargetRef } from '../../../../api/trafficwatch/spec/workload.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import type { Transport } from '../../../../runtime/client/transport.ts';
import type { Target } from '../observation.ts';
import { Answers } from './answers.ts';
import { readTarget } from './target.ts';

/**
 * Time until a selector is read again, ms. Selectors of apps/v1 are immutable, so a selector changes only if its target was
 * deleted and created again. The labels of a CronJob's pods can change: its new pods may wait this long.
 */
const FRESH_MS = 60_000;
/** The same while the target is unknown: its pods are unprotected, so the next pass asks again. */
const UNKNOWN_FRESH_MS = 5_000;

/**
 * The targets of TrafficWatches. Asks the API server at most once a minute for each, or every 5 s while unknown. The labels
 * of the nodes do not depend on the target, so a slow answer delays a reconcile by a second at most: see Answers.
 */
export class Targets {
  readonly #requests: Pick<Transport, 'request'>;
  readonly #answers: Answers<Target>;
  /** The reference that was asked for last, by the key of the TrafficWatch. */
  readonly #refs = new Map<string, string>();

  constructor(o: { transport: Pick<Transport, 'request'>; clock: Clock }) {
    this.#requests = o.transport;
    const freshMs = ({ selector }: Target): number => (selector === undefined ? UNKNOWN_FRESH_MS : FRESH_MS);
    this.#answers = new Answers({ clock: o.clock, freshMs });
  }

  /**
   * The target of the TrafficWatch `key`. Throws nothing.
   * @param key namespace/name
   */
  async targetOf(key: string, ref: TargetRef): Promise<Target> {
    const text = JSON.stringify([ref.apiVersion, ref.kind, ref.name]);
    if (this.#refs.get(key) !== text) this.#answers.forget(key);
    this.#refs.set(key, text);
    const namespace = key.slice(0, key.indexOf('/'));
    const target = await this.#answers.of(key, () => readTarget(this.#requests, namespace, ref));
    return target ?? notAnswered(`${ref.kind} ${namespace}/${ref.name}`);
  }

  /** Call when the TrafficWatch of this key is deleted. */
  forget(key: string): void {
    this.#refs.delete(key);
    this.#answers.forget(key);
  }
}

function notAnswered(told: string): Target {
  return { reason: Reason.TargetUnreadable, message: `${told} is not read yet: the API server has not answered` };
}
