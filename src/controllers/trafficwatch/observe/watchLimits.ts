import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import type { InformerEvent } from '../../../runtime/cache/informer.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import { Oldest, type Entry, type Shift } from './oldest.ts';

/** How many TrafficWatches the operator decides. */
export interface Limits {
  /** The oldest of each namespace. */
  readonly perNamespace: number;
  /** Of these, the oldest of the cluster. */
  readonly inCluster: number;
}

/** A change of which TrafficWatches are within the limits: their keys. */
export interface LimitChange {
  readonly entered: readonly string[];
  readonly left: readonly string[];
}

const NO_CHANGE: LimitChange = { entered: [], left: [] };

/**
 * Knows which TrafficWatches are within the limits. Each of them costs every pass its share, and every Node a label: without
 * limits, the user of one namespace could fill the Nodes until the API server refuses to store them. The oldest are within
 * the limits: nobody pushes out what works. Every replica gets the same result.
 *
 * A TrafficWatch that is being deleted counts until it is gone, since it still has labels.
 */
export class WatchLimits {
  readonly #limits: Limits;
  readonly #namespaces = new Map<string, Oldest>();
  readonly #cluster: Oldest;
  readonly #entries = new Map<string, Entry>();
  readonly #within = new Set<string>();

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#cluster = new Oldest(limits.inCluster);
  }

  /** The keys of the TrafficWatches within the limits. */
  get within(): ReadonlySet<string> {
    return this.#within;
  }

  /** Call with each event of a TrafficWatch. */
  saw({ type, object }: InformerEvent<TrafficWatch>): LimitChange {
    const key = keyOf(object);
    const before = this.#entries.get(key);
    const entry = type === 'delete' ? undefined : entryOf(object);
    if (before?.uid === entry?.uid) return NO_CHANGE;
    const removed = before === undefined ? [] : this.#remove(before);
    const added = entry === undefined ? [] : this.#add(entry);
    return this.#changed([...removed, ...added].map(({ key: touched }) => touched));
  }

  /** How many TrafficWatches are beyond the limits. */
  get beyond(): number {
    return this.#entries.size - this.#within.size;
  }

  /** Whether there is such a TrafficWatch, beyond the limits. */
  isBeyond(key: string): boolean {
    return this.#entries.has(key) && !this.#within.has(key);
  }

  /** What is wrong and what to do, for users, if a TrafficWatch is beyond the limits. */
  problemOf({ metadata }: Pick<TrafficWatch, 'metadata'>): string | undefined {
    const key = keyOf({ metadata });
    if (!this.isBeyond(key)) return undefined;
    const namespace = metadata?.namespace ?? '';
    const { perNamespace, inCluster } = this.#limits;
    if (this.#namespaces.get(namespace)?.has(this.#entries.get(key)) === true) {
      return `the cluster has more than ${inCluster} TrafficWatches, and only the ${inCluster} oldest are decided: delete some, or raise --most-watches of the operator`;
    }
    return `namespace ${namespace} has more than ${perNamespace} TrafficWatches, and only its ${perNamespace} oldest are decided: delete some, or raise --most-watches-per-namespace of the operator`;
  }

  #add(entry: Entry): Entry[] {
    this.#entries.set(entry.key, entry);
    const oldest = this.#namespaces.get(entry.namespace) ?? new Oldest(this.#limits.perNamespace);
    this.#namespaces.set(entry.namespace, oldest);
    return this.#pass(oldest.add(entry));
  }

  #remove(entry: Entry): Entry[] {
    this.#entries.delete(entry.key);
    const oldest = this.#namespaces.get(entry.namespace);
    if (oldest === undefined) return [];
    const shift = oldest.remove(entry);
    if (oldest.isEmpty) this.#namespaces.delete(entry.namespace);
    return this.#pass(shift);
  }

  /** Passes a change of the oldest of a namespace on to those of the cluster. Returns all that may have changed sides. */
  #pass({ entered, left }: Shift): Entry[] {
    const shifts = [
      ...(left === undefined ? [] : [this.#cluster.remove(left)]),
      ...(entered === undefined ? [] : [this.#cluster.add(entered)]),
    ];
    return [entered, left, ...shifts.flatMap((shift) => [shift.entered, shift.left])].filter(
      (entry) => entry !== undefined,
    );
  }

  #changed(touched: readonly string[]): LimitChange {
    const entered: string[] = [];
    const left: string[] = [];
    for (const key of new Set(touched)) {
      const isWithin = this.#cluster.has(this.#entries.get(key));
      if (isWithin && !this.#within.has(key)) entered.push(key);
      if (!isWithin && this.#within.has(key)) left.push(key);
    }
    entered.forEach((key) => this.#within.add(key));
    left.forEach((key) => this.#within.delete(key));
    return { entered, left };
  }
}

function entryOf({ metadata }: TrafficWatch): Entry {
  const { uid = '', namespace = '', creationTimestamp } = metadata ?? {};
  return {
    uid,
    namespace,
    key: keyOf({ metadata }),
    creationTimestamp: new Date(creationTimestamp ?? 0).toISOString(),
  };
}
