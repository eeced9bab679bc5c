import type { Clock } from '../../process/clock.ts';
import type { ApiError } from '../../client/errors.ts';
import type { Logger } from '../../process/logger.ts';
import type { KubeObject } from '../../client/resource.ts';
import type { Transport } from '../../client/transport/types.ts';
import type { Selection } from './requests.ts';

/** Where a reflector puts what it learns. */
export interface ReflectorTarget<T> {
  /** The complete list: what is not in it is gone. */
  replace(objects: readonly T[]): void;
  set(object: T): void;
  delete(object: T): void;
  /** The API server refuses to list or watch (403), or, with undefined, what the target has is kept current again. */
  refused?(refusal: ApiError | undefined): void;
}

/** How a list or watch ended. */
export type WatchEnd =
  /** By the server, as every watch does after some minutes. */
  | 'closed'
  /** 410: the version to go on from is too old. */
  | 'gone'
  /** There is no watch-list here. */
  | 'refused'
  /** With another error that the server answered. */
  | 'answered'
  | 'unreachable'
  | 'badLine'
  /** With a defect of ours. */
  | 'failed';

/** What reflectors tell of themselves. `resource` as kubectl writes it: 'nodes', 'deployments.apps'. */
export interface WatchMetrics {
  /** A complete list was taken over. */
  listed(resource: string, how: ListKind): void;
  watchStarted(resource: string): void;
  watchEnded(resource: string, end: WatchEnd): void;
  /** A line of a watch could not be read; the watch is resumed from before it. */
  badLine(resource: string): void;
}

/** How everything there is can be had: as the beginning of a watch, or in pages of 500 before one. */
export type ListKind = 'watch-list' | 'pages';

export interface ReflectorOptions<T extends KubeObject> {
  transport: Transport;
  selection: Selection;
  target: ReflectorTarget<T>;
  /** Drops what nobody reads, before the object is kept. */
  transform?: ((object: T) => T) | undefined;
  logger: Logger;
  clock: Clock;
  metrics?: WatchMetrics | undefined;
}
