import type { Clock } from '../../process/clock.ts';
import type { ApiError } from '../../client/errors.ts';
import type { Logger } from '../../process/logger.ts';
import type { KubeObject } from '../../client/resource.ts';
import type { Transport } from '../../client/transport/types.ts';
import type { Selection } from './requests.ts';

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
