import type { Timer } from '../../process/clock.ts';
import { keyOf, resourceName } from '../../client/resource.ts';
import type { KubeObject } from '../../client/resource.ts';
import { LinkedAbort } from '../../client/transport/linkedAbort.ts';
import type { TransportRequest } from '../../client/transport/types.ts';
import { listPages } from './listPages.ts';
import { normalize, watchListRequest, watchRequest } from './requests.ts';
import type { ListKind, ReflectorOptions } from './types.ts';
import { readWatch } from './watchEvents.ts';
import type { WatchEvent } from './watchEvents.ts';

/** The server ends a watch at the timeout it was given; one that is open much later has been forgotten. */
const OVERTIME_MS = 30_000;
/** Initial events come without pauses; where they stop short of their end, the server does not know of an end. */
const INITIAL_PAUSE_MS = 30_000;

/** One watch, with the list before it where there is nothing to go on from. */
export class Round<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #kind: ListKind;
  #version: string | undefined;
  #openedAt: number | undefined;
  #events = 0;
  /** The beginning of a watch-list, kept apart until it is complete: nothing is deleted for lack of an end. */
  #initial: Map<string, T> | undefined;
  #patience: Timer | undefined;
  #endless = false;

  /** @param version where to go on; undefined: with a list of this kind */
  constructor(options: ReflectorOptions<T>, kind: ListKind, version: string | undefined) {
    this.#options = options;
    this.#kind = kind;
    this.#version = version;
  }

  /** Where the next round can go on; undefined when there was no complete list. */
  get version(): string | undefined {
    return this.#version;
  }

  /** For how long the watch has been open, milliseconds; 0 when it never was. */
  get openFor(): number {
    return this.#openedAt === undefined ? 0 : this.#options.clock.monotonic() - this.#openedAt;
  }

  /** Events and bookmarks that came. */
  get events(): number {
    return this.#events;
  }

  /** True when a watch-list came to no end, and not for lack of a connection. */
  get isEndless(): boolean {
    return this.#endless;
  }

  /** Ends when the watch does. @throws ApiError, TransportError, BadLineError */
  async run(signal: AbortSignal): Promise<void> {
    const { selection, transport } = this.#options;
    if (this.#version === undefined && this.#kind === 'watch-list') {
      this.#initial = new Map();
      await this.#watch(watchListRequest(selection), signal);
      return;
    }
    if (this.#version === undefined) {
      const { objects, version } = await listPages(transport, selection, (object: T) => this.#keep(object), signal);
      this.#takeOver(objects, version);
    }
    await this.#watch(watchRequest(selection, this.#version ?? ''), signal);
  }

  async #watch(request: TransportRequest, signal: AbortSignal): Promise<void> {
    const { clock, transport, metrics, target } = this.#options;
    const timeoutMs = Number(request.query?.timeoutSeconds) * 1000 + OVERTIME_MS;
    const limit = new LinkedAbort([signal], { clock, timeoutMs });
    try {
      const stream = await transport.stream({ ...request, signal: limit.signal });
      this.#openedAt = clock.monotonic();
      metrics?.watchStarted(this.#name);
      // One that begins with a list has to come to the end of that first.
      if (this.#initial === undefined) target.refused?.(undefined);
      this.#waitForInitial(limit);
      await readWatch<T>(stream, request, {
        event: (event) => {
          this.#take(event);
          this.#waitForInitial(limit);
        },
        cutOff: () => this.#cutOff(),
      });
      this.#endless = this.#initial !== undefined;
    } finally {
      this.#patience?.cancel();
      limit.release();
    }
  }

  #waitForInitial(limit: LinkedAbort): void {
    this.#patience?.cancel();
    if (this.#initial === undefined) return;
    this.#patience = this.#options.clock.setTimeout(() => {
      this.#endless = true;
      limit.abort();
    }, INITIAL_PAUSE_MS);
  }

  #take(event: WatchEvent<T>): void {
    this.#events += 1;
    if (this.#initial !== undefined) this.#collect(this.#initial, event);
    else this.#passOn(event);
  }

  #collect(initial: Map<string, T>, event: WatchEvent<T>): void {
    if (event.type === 'set') initial.set(keyOf(event.object), this.#keep(event.object));
    else if (event.type === 'delete') initial.delete(keyOf(event.object));
    else if (event.initialEnd) {
      this.#takeOver([...initial.values()], event.version);
      this.#options.target.refused?.(undefined);
    }
  }

  #takeOver(objects: readonly T[], version: string): void {
    this.#initial = undefined;
    this.#options.target.replace(objects);
    this.#version = version;
    this.#options.metrics?.listed(this.#name, this.#kind);
  }

  #passOn(event: WatchEvent<T>): void {
    const { target } = this.#options;
    if (event.type === 'set') target.set(this.#keep(event.object));
    else if (event.type === 'delete') target.delete(this.#keep(event.object));
    this.#version = event.version;
  }

  /** What is kept of an object; the whole of it where the transform cannot do its work. */
  #keep(object: T): T {
    const { selection, transform, logger } = this.#options;
    const normal = normalize(selection, object);
    try {
      return transform === undefined ? normal : transform(normal);
    } catch (error) {
      logger.error({ err: error, resource: this.#name, key: keyOf(object) }, 'object could not be transformed');
      return normal;
    }
  }

  #cutOff(): void {
    this.#options.metrics?.badLine(this.#name);
    this.#options.logger.debug({ resource: this.#name }, 'watch was cut off within a line');
  }

  get #name(): string {
    return resourceName(this.#options.selection.resource);
  }
}
