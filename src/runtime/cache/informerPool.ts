import { resourceName, type KubeObject } from '../client/resource.ts';
import { isKnown, type Informer, type InformerEvent, type InformerOptions } from './informer.ts';

/** The objects of an informer. Equal selections share one, so their transforms must be equal, too. */
export type PooledSelection = Pick<
  InformerOptions<KubeObject>,
  'resource' | 'namespace' | 'labelSelector' | 'fieldSelector' | 'transform'
>;

/** What a holder wants to see. */
export interface Wish {
  readonly selection: PooledSelection;
  /** Whether a change from or to this object concerns the holder. Default: any. */
  readonly concerns?: ((object: KubeObject) => boolean) | undefined;
}

export interface InformerPoolOptions {
  readonly create: (selection: PooledSelection) => Informer<KubeObject>;
  /**
   * Called for a holder of an informer when that has its first objects, or is refused, and at each change that concerns the holder. So what
   * the holder has read otherwise until then counts no more.
   */
  readonly onChange: (holder: string) => void;
}

interface Pooled {
  readonly informer: Informer<KubeObject>;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly holders: Map<string, readonly Wish[]>;
}

/**
 * Informers that run while somebody wants what they have, such as single objects by their names. They begin when they are first wanted, are
 * shared by all who want the same, and end when nobody does any more.
 */
export class InformerPool {
  readonly #options: InformerPoolOptions;
  readonly #pooled = new Map<string, Pooled>();
  #isClosed = false;

  constructor(options: InformerPoolOptions) {
    this.#options = options;
  }

  /** The number of informers. */
  get size(): number {
    return this.#pooled.size;
  }

  /** The informer of a selection that somebody holds. */
  find(selection: PooledSelection): Informer<KubeObject> | undefined {
    return this.#pooled.get(keyOf(selection))?.informer;
  }

  /** The objects of a selection; undefined if nobody holds it, or if its watch is not current. */
  current(selection: PooledSelection): Informer<KubeObject>['lister'] | undefined {
    const informer = this.find(selection);
    return informer !== undefined && isKnown(informer) ? informer.lister : undefined;
  }

  /** All that a holder wants now, in place of what it wanted before. Without a wish, it holds nothing any more. */
  hold(holder: string, wishes: readonly Wish[]): void {
    if (this.#isClosed) return;
    const wanted = Map.groupBy(wishes, ({ selection }) => keyOf(selection));
    for (const [key, same] of wanted) {
      const [first] = same;
      if (first !== undefined) this.#start(key, first.selection).holders.set(holder, same);
    }
    for (const [key, { holders }] of this.#pooled) {
      if (wanted.has(key)) continue;
      holders.delete(holder);
      if (holders.size === 0) this.#stop(key);
    }
  }

  /** Nobody holds anything any more. */
  clear(): void {
    for (const key of this.#pooled.keys()) this.#stop(key);
  }

  /** Ends all informers, and starts none any more. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const ended = [...this.#pooled.values()].map((each) => each.ended);
    this.clear();
    await Promise.all(ended);
  }

  #start(key: string, selection: PooledSelection): Pooled {
    const known = this.#pooled.get(key);
    if (known !== undefined) return known;
    const informer = this.#options.create(selection);
    const stop = new AbortController();
    const holders = new Map<string, readonly Wish[]>();
    informer.subscribe((event) => this.#tell(holders, event));
    const pooled = { informer, stop, holders, ended: informer.run(stop.signal) };
    this.#pooled.set(key, pooled);
    void this.#tellFirst(pooled);
    return pooled;
  }

  #stop(key: string): void {
    this.#pooled.get(key)?.stop.abort();
    this.#pooled.delete(key);
  }

  /** An object that was deleted before the first list is in no event. */
  async #tellFirst({ informer, stop, holders }: Pooled): Promise<void> {
    await informer.whenSyncedOrRefused(stop.signal);
    if (stop.signal.aborted) return;
    for (const holder of holders.keys()) this.#options.onChange(holder);
  }

  #tell(holders: Pooled['holders'], event: InformerEvent<KubeObject>): void {
    const objects = event.type === 'update' && event.old !== undefined ? [event.old, event.object] : [event.object];
    const isConcerned = ({ concerns }: Wish): boolean => concerns === undefined || objects.some(concerns);
    for (const [holder, wishes] of holders) if (wishes.some(isConcerned)) this.#options.onChange(holder);
  }
}

function keyOf({ resource, namespace, labelSelector, fieldSelector }: PooledSelection): string {
  return JSON.stringify([resourceName(resource), namespace, labelSelector, fieldSelector]);
}
