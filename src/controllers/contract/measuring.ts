import type { Problem } from '../../runtime/process/problem.ts';

/** Who knows how the measuring goes. */
export interface MeasuringSource {
  /** What is wrong now; empty when everything is as it should be. */
  problems(): readonly Problem[];
  /** Why the Prometheus under the own one's name is not to be asked: it is somebody else's. Undefined when it is not. */
  foreignServer(): string | undefined;
}

/**
 * How the measuring goes: told by the controller that deploys what the operator measures with, asked by the feed and by
 * the controllers that decide. It stands between them, so that none of them has to exist before the others.
 */
export class MeasuringState implements MeasuringSource {
  #source: MeasuringSource | undefined;

  /** To be called once. */
  tellBy(source: MeasuringSource): void {
    this.#source = source;
  }

  problems(): readonly Problem[] {
    return this.#source?.problems() ?? [];
  }

  foreignServer(): string | undefined {
    return this.#source?.foreignServer();
  }
}
