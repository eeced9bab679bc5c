import type { HostExplanation } from '../../api/trafficweight/trafficWeight.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import type { PlannedSource } from '../../weights/plan/plan.ts';
import { REFUSED } from './decide/hosts.ts';

/**
 * Records one event on each source for each reason that it is not accepted: once when that begins, and again if the message changes.
 * Its message is about the first host. The recorded events are remembered in memory only, so a restart repeats them once.
 */
export class IngressEvents {
  readonly #events: Pick<EventRecorder, 'event'>;
  /** By the name of the TrafficWeight, then by uid of the Ingress and reason. */
  readonly #recorded = new Map<string, ReadonlyMap<string, string>>();

  constructor(events: Pick<EventRecorder, 'event'>) {
    this.#events = events;
  }

  /** @param explained the hosts of each source of the TrafficWeight `name` */
  record(name: string, explained: readonly (readonly [PlannedSource, readonly HostExplanation[]])[]): void {
    const before = this.#recorded.get(name);
    const now = new Map<string, string>();
    for (const [{ source }, hosts] of explained) {
      for (const [reason, note] of notesOf(hosts)) {
        const id = `${source.uid} ${reason}`;
        now.set(id, note);
        if (before?.get(id) === note) continue;
        const { apiVersion, kind, namespace, name: ingress, uid } = source;
        const about = { apiVersion, kind, metadata: { namespace, name: ingress, uid } };
        this.#events.event(about, 'Warning', reason, note, 'DecideWeight');
      }
    }
    this.#recorded.set(name, now);
  }

  forget(name: string): void {
    this.#recorded.delete(name);
  }
}

/** Returns the message of each reason: the first host and its message, and the number of other hosts with the reason. */
function notesOf(hosts: readonly HostExplanation[]): Map<HostExplanation['reason'], string> {
  const byReason = Map.groupBy(
    hosts.filter(({ reason }) => REFUSED.has(reason)),
    ({ reason }) => reason,
  );
  return new Map(
    [...byReason].map(([reason, [first, ...others]]) => {
      const more = others.length === 0 ? '' : ` (and ${others.length} more ${others.length === 1 ? 'host' : 'hosts'})`;
      return [reason, `${first?.host}: ${first?.message ?? ''}${more}`];
    }),
  );
}
