import { whenAborted } from '../async/deadline.ts';
import type { Controller } from '../controller/controller.ts';
import type { HealthCheck, HealthChecks } from '../server/health.ts';
import type { Informer } from '../cache/informer.ts';
import { isForbidden, isNotFound } from '../client/errors.ts';
import type { Logger } from '../process/logger.ts';
import { STAGES, type Part, type Stage } from '../process/part.ts';
import { resourceName, type KubeObject } from '../client/resource.ts';

/** A part for a cache. The program is ready when the cache is synced. */
export function cachePart<T extends KubeObject>(informer: Informer<T>): Part {
  return {
    name: `cache of ${resourceName(informer.resource)}`,
    stage: 'cache',
    run: (signal) => informer.run(signal),
    whenReady: (signal) => informer.whenSynced(signal),
    notReady: () => (informer.synced ? undefined : `not synced${refusalOf(informer)}`),
  };
}

/**
 * A part for a cache that is optional if the API server rejects it (403). The program is then not ready and reports
 * why, but controllers that use other caches start.
 */
export function optionalCachePart<T extends KubeObject>(informer: Informer<T>): Part {
  return { ...cachePart(informer), whenReady: (signal) => informer.whenSyncedOrRefused(signal) };
}

/**
 * A part for a cache that nothing needs at present. The program is ready even if the API server rejects it (403): rights that were
 * granted for an older version lack the rights of new features.
 */
export function unneededCachePart<T extends KubeObject>(informer: Informer<T>): Part {
  const part = optionalCachePart(informer);
  return { ...part, notReady: () => (isForbidden(informer.refusal) ? undefined : part.notReady?.()) };
}

/**
 * As `part`, the part for a cache of a kind whose CRD may be missing (404): the program is ready without it, and the
 * informer waits for the CRD.
 */
export function readyWithoutCrd<T extends KubeObject>(part: Part, informer: Informer<T>): Part {
  return { ...part, notReady: () => (isNotFound(informer.refusal) ? undefined : part.notReady?.()) };
}

/** The message of the API server, which names verb and resource; a 404 has no useful message. */
function refusalOf<T extends KubeObject>({ refusal, resource }: Informer<T>): string {
  if (isNotFound(refusal)) return `: the API server does not serve ${resourceName(resource)}`;
  return refusal === undefined ? '' : `: ${refusal.detail}`;
}

/** A part for a controller. The program is alive while the controller's loop is. */
export function controllerPart(controller: Controller): Part {
  return {
    name: `controller ${controller.name}`,
    stage: 'work',
    run: (signal) => controller.run(signal),
    stuck: () => controller.stuck(),
  };
}

interface Started {
  controller: AbortController;
  ended: Promise<unknown>;
}

/** Runs all parts: starts them in order, stops them in reverse order, and reports their health. */
export class Manager implements HealthChecks {
  readonly #logger: Logger;
  readonly #parts: Part[] = [];
  /** Aborted when a part fails. */
  readonly #failure = new AbortController();
  #phase: 'starting' | 'running' | 'stopping' = 'starting';

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  add(...parts: Part[]): void {
    this.#parts.push(...parts);
  }

  live(): readonly HealthCheck[] {
    return this.#parts
      .filter((part) => part.stuck !== undefined)
      .map((part) => ({ name: part.name, problem: () => part.stuck?.() }));
  }

  ready(): readonly HealthCheck[] {
    const parts = this.#parts
      .filter((part) => part.notReady !== undefined)
      .map((part) => ({ name: part.name, problem: () => part.notReady?.() }));
    const phase = () => (this.#phase === 'running' ? undefined : this.#phase);
    return [...parts, { name: 'manager', problem: phase }];
  }

  /**
   * Runs all parts until `signal` is aborted and all of them have ended.
   *
   * @throws Error if a part failed or ended early, after all other parts have ended
   */
  async run(signal: AbortSignal): Promise<void> {
    // The timers and idle connections of this program do not keep the process alive.
    const alive = setInterval(() => undefined, 60_000);
    const started: Started[] = [];
    const stop = AbortSignal.any([signal, this.#failure.signal]);
    for (const stage of STAGES) {
      if (!stop.aborted) {
        started.unshift(this.#start(stage));
        await Promise.race([this.#whenReady(stage, stop), whenAborted(stop)]);
      }
    }
    this.#phase = 'running';
    await whenAborted(stop);
    this.#phase = 'stopping';
    for (const { controller, ended } of started) {
      controller.abort();
      await ended;
    }
    clearInterval(alive);
    if (this.#failure.signal.aborted) {
      throw this.#failure.signal.reason;
    }
  }

  #start(stage: Stage): Started {
    const controller = new AbortController();
    const parts = this.#parts.filter((part) => part.stage === stage);
    return { controller, ended: Promise.all(parts.map((part) => this.#runPart(part, controller.signal))) };
  }

  async #runPart(part: Part, signal: AbortSignal): Promise<void> {
    try {
      await part.run(signal);
      if (!signal.aborted) {
        throw new Error('ended before it was stopped');
      }
      this.#logger.debug({ part: part.name }, 'stopped');
    } catch (error) {
      this.#fail(part, error);
    }
  }

  async #whenReady(stage: Stage, signal: AbortSignal): Promise<void> {
    const parts = this.#parts.filter((part) => part.stage === stage);
    await Promise.all(parts.map((part) => this.#partReady(part, signal)));
    this.#logger.debug({ stage }, 'ready');
  }

  async #partReady(part: Part, signal: AbortSignal): Promise<void> {
    try {
      await part.whenReady?.(signal);
    } catch (error) {
      this.#fail(part, error);
    }
  }

  #fail(part: Part, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#failure.abort(new Error(`${part.name}: ${message}`, { cause: error }));
  }
}
