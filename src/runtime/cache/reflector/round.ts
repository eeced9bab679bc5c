import type { Timer, Clock } from '../../process/clock.ts';
import { keyOf, resourceName, type KubeObject } from '../../client/resource.ts';
import { LinkedAbort } from '../../async/deadline.ts';
import type { TransportRequest, Transport } from '../../client/transport/types.ts';
import {
  normalize,
  watchListRequest,
  watchRequest,
  pageRequest,
  wholeListRequest,
  type Selection,
} from './requests.ts';
import { readWatch, type WatchEvent } from './watchEvents.ts';
import { isGone, type ApiError } from '../../client/errors.ts';
import type { Logger } from '../../process/logger.ts';

/** The server ends a watch at its timeout. A watch that is open much longer was forgotten. */
const OVERTIME_MS = 30_000;
/** Initial events arrive without pauses. If they stop before their end, the server does not send the end. */
const INITIAL_PAUSE_MS = 30_000;

/** One watch, preceded by a list if there is no version to resume from. */
export class Round<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #kind: ListKind;
  #version: string | undefined;
  #openedAt: number | undefined;
  #events = 0;
  /**
   * The initial objects of a watch-list. They are kept apart until complete, so that a partial list deletes nothing.
   */
  #initial: Map<string, T> | undefined;
  #patience: Timer | undefined;
  #endless = false;

  /** @param version the version to resume from; undefined: start with a list */
  constructor(options: ReflectorOptions<T>, kind: ListKind, version: string | undefined) {
    this.#options = options;
    this.#kind = kind;
    this.#version = version;
  }

  /** The version from which the next round can resume; undefined if there was no complete list. */
  get version(): string | undefined {
    return this.#version;
  }

  /** How long the watch has been open, milliseconds; 0 if it was never open. */
  get openFor(): number {
    return this.#openedAt === undefined ? 0 : this.#options.clock.monotonic() - this.#openedAt;
  }

  /** Number of received events and bookmarks. */
  get events(): number {
    return this.#events;
  }

  /** True if a watch-list did not end, although the connection was not lost. */
  get isEndless(): boolean {
    return this.#endless;
  }

  /** Resolves when the watch ends. @throws ApiError, TransportError, BadLineError */
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
      // A watch that starts with a list must complete the list first.
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

  /** The part of an object to keep; the whole object if the transform throws. */
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

/** All objects at one resource version. */
interface CompleteList<T> {
  objects: T[];
  version: string;
}

interface Page<T> {
  items?: T[] | null;
  metadata?: { resourceVersion?: string; continue?: string };
}

/**
 * Reads all objects in pages, all of one version. If the pages expire (410), it reads all objects in one
 * response, as client-go's pager does.
 *
 * @param keep applied to each page, so that dropped parts of objects are not held for the whole list
 */
async function listPages<T extends KubeObject>(
  transport: Transport,
  selection: Selection,
  keep: (object: T) => T,
  signal: AbortSignal,
): Promise<CompleteList<T>> {
  const read = (request: TransportRequest): Promise<Page<T>> => transport.request<Page<T>>({ ...request, signal });
  const objects: T[] = [];
  let next: string | undefined;
  for (;;) {
    const page = await readPage(read, selection, next);
    if (page.expired) objects.length = 0;
    for (const item of page.items ?? []) objects.push(keep(item));
    next = page.metadata?.continue;
    if (next === undefined || next === '') return { objects, version: page.metadata?.resourceVersion ?? '' };
  }
}

/** @returns `expired`: discard the pages so far; this is the whole list */
async function readPage<T>(
  read: (request: TransportRequest) => Promise<Page<T>>,
  selection: Selection,
  next: string | undefined,
): Promise<Page<T> & { expired: boolean }> {
  try {
    return { ...(await read(pageRequest(selection, next))), expired: false };
  } catch (error) {
    if (next === undefined || !isGone(error)) throw error;
    return { ...(await read(wholeListRequest(selection))), expired: true };
  }
}

/** The target that a reflector keeps current. */
export interface ReflectorTarget<T> {
  /** Replaces all objects: objects that are not in the list are deleted. */
  replace(objects: readonly T[]): void;
  set(object: T): void;
  delete(object: T): void;
  /** The API server rejects list or watch (403); undefined: the target is current again. */
  refused?(refusal: ApiError | undefined): void;
}

/** Why a list or watch ended. */
export type WatchEnd =
  /** Ended by the server, as every watch after some minutes. */
  | 'closed'
  /** 410: the version to resume from is too old. */
  | 'gone'
  /** The server does not support watch-lists. */
  | 'refused'
  /** Another error response of the server. */
  | 'answered'
  | 'unreachable'
  | 'badLine'
  /** An internal error of this program. */
  | 'failed';

/** Metrics of reflectors. `resource` as kubectl writes it: 'nodes', 'deployments.apps'. */
export interface WatchMetrics {
  /** A complete list was stored. */
  listed(resource: string, how: ListKind): void;
  watchStarted(resource: string): void;
  watchEnded(resource: string, end: WatchEnd): void;
  /** A line of a watch could not be parsed; the watch resumes from the version before it. */
  badLine(resource: string): void;
}

/** How to read all objects: as the start of a watch, or in pages before a watch. */
export type ListKind = 'watch-list' | 'pages';

export interface ReflectorOptions<T extends KubeObject> {
  transport: Transport;
  selection: Selection;
  target: ReflectorTarget<T>;
  /** Drops unused parts of an object before it is stored. */
  transform?: ((object: T) => T) | undefined;
  logger: Logger;
  clock: Clock;
  metrics?: WatchMetrics | undefined;
}
