import { resourceName, type KubeObject } from '../client/resource.ts';
import { isKnown, type Informer, type InformerEvent, type InformerOptions } from './informer.ts';

/** The objects of an informer. Equal selections share an informer, so their transforms must also be equal. */
export type PooledSelection = Pick<
  InformerOptions<KubeObject>,
  'resource' | 'namespace' | 'labelSelector' | 'fieldSelector' | 'transform'
>;

/** A selection of objects that a holder watches. */
export interface WatchRequest {
  readonly selection: PooledSelection;
  /** Whether a change from or to this object concerns the holder. Default: any. */
  readonly concerns?: ((object: KubeObject) => boolean) | undefined;
}

interface InformerPoolOptions {
  readonly create: (selection: PooledSelection) => Informer<KubeObject>;
  /**
   * Called for a holder of an informer when the first list has ended or was refused, and at each change that concerns the holder. The
   * holder must then discard its earlier direct reads. Users may cause a thousand changes a second: see PacedQueue.
   */
  readonly onChange: (holder: string) => void;
}

interface Pooled {
  readonly informer: Informer<KubeObject>;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly holders: Map<string, readonly WatchRequest[]>;
}

/**
 * Runs informers while holders need them, for example for single objects by name. An informer starts with its first holder, is shared by
 * all holders of the same selection, and stops with its last holder.
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

  /** Returns the informer of a selection; undefined if it has no holder. */
  find(selection: PooledSelection): Informer<KubeObject> | undefined {
    return this.#pooled.get(keyOf(selection))?.informer;
  }

  /** Returns the objects of a selection; undefined if it has no holder, or if its watch is not current. */
  current(selection: PooledSelection): Informer<KubeObject>['lister'] | undefined {
    const informer = this.find(selection);
    return informer !== undefined && isKnown(informer) ? informer.lister : undefined;
  }

  /** Replaces the wishes of a holder. Without wishes, it releases all its informers. */
  watch(holder: string, requests: readonly WatchRequest[]): void {
    if (this.#isClosed) return;
    const wanted = Map.groupBy(requests, ({ selection }) => keyOf(selection));
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

  /** Releases all informers of all holders. */
  clear(): void {
    for (const key of this.#pooled.keys()) this.#stop(key);
  }

  /** Stops all informers. Later calls of `hold` have no effect. Never rejects. */
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
    const holders = new Map<string, readonly WatchRequest[]>();
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

  /** Calls `onChange` after the first list: no event reports an object that was deleted before it. */
  async #tellFirst({ informer, stop, holders }: Pooled): Promise<void> {
    await informer.whenSyncedOrRefused(stop.signal);
    if (stop.signal.aborted) return;
    for (const holder of holders.keys()) this.#options.onChange(holder);
  }

  #tell(holders: Pooled['holders'], event: InformerEvent<KubeObject>): void {
    const objects = event.type === 'update' && event.old !== undefined ? [event.old, event.object] : [event.object];
    const isConcerned = ({ concerns }: WatchRequest): boolean => concerns === undefined || objects.some(concerns);
    for (const [holder, requests] of holders) if (requests.some(isConcerned)) this.#options.onChange(holder);
  }
}

function keyOf({ resource, namespace, labelSelector, fieldSelector }: PooledSelection): string {
  return JSON.stringify([resourceName(resource), namespace, labelSelector, fieldSelector]);
}
