import type { InformerEvent } from '../../../runtime/cache/informer.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { ClusterNode } from './clusterNode.ts';
import { shownExclusion } from './exclusion.ts';

/** Remembers when the exclusion of each node ended, since a Node does not say when it was uncordoned. */
export class ExclusionHistory {
  readonly #clock: Clock;
  /** Monotonic, ms. */
  readonly #endedAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Remembers an exclusion that has ended. Call it with each event of the Nodes. */
  seen(event: InformerEvent<ClusterNode>): void {
    const { object } = event;
    if (event.type === 'delete') this.#endedAt.delete(object.name);
    if (event.type !== 'update' || event.old === undefined) return;
    if (shownExclusion(event.old) !== undefined && shownExclusion(object) === undefined) {
      this.#endedAt.set(object.name, this.#clock.monotonic());
    }
  }

  /** Returns the time since the exclusion ended, ms; undefined if none has ended since this process started. */
  endedMs(node: string): number | undefined {
    const at = this.#endedAt.get(node);
    return at === undefined ? undefined : this.#clock.monotonic() - at;
  }
}
