import type { HostExplanation } from '../../api/trafficweight/trafficWeight.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import type { PlannedSource } from '../../weights/plan/plan.ts';
import { REFUSED } from './decide/hosts.ts';

/**
 * Records an event on each source that is not accepted: once when that begins, and again if the message changes. The
 * recorded events are remembered in memory only, so a restart repeats them once.
 */
export class IngressEvents {
  readonly #events: Pick<EventRecorder, 'event'>;
  /** By the name of the TrafficWeight, then by uid of the Ingress and host. */
  readonly #recorded = new Map<string, ReadonlyMap<string, string>>();

  constructor(events: Pick<EventRecorder, 'event'>) {
    this.#events = events;
  }

  /** @param explained the hosts of each source of the TrafficWeight `name` */
  record(name: string, explained: readonly (readonly [PlannedSource, readonly HostExplanation[]])[]): void {
    const before = this.#recorded.get(name);
    const now = new Map<string, string>();
    for (const [{ source }, hosts] of explained) {
      for (const { host, reason, message = '' } of hosts) {
        if (!REFUSED.has(reason)) continue;
        const id = `${source.uid} ${host}`;
        now.set(id, message);
        if (before?.get(id) === message) continue;
        const { apiVersion, kind, namespace, name: ingress, uid } = source;
        const about = { apiVersion, kind, metadata: { namespace, name: ingress, uid } };
        this.#events.event(about, 'Warning', reason, `${host}: ${message}`, 'DecideWeight');
      }
    }
    this.#recorded.set(name, now);
  }

  forget(name: string): void {
    this.#recorded.delete(name);
  }
}
