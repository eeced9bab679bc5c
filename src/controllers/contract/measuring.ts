/** Something that keeps the cluster from being measured as it should be, for logs, events and conditions. */
export interface MeasuringProblem {
  /** CamelCase. */
  readonly reason: string;
  /** Kind and name of what it is about. */
  readonly object: string;
  readonly message: string;
}

/** Who knows how the measuring goes. */
export interface MeasuringSource {
  /** What is wrong now; empty when everything is as it should be. */
  problems(): readonly MeasuringProblem[];
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

  problems(): readonly MeasuringProblem[] {
    return this.#source?.problems() ?? [];
  }

  foreignServer(): string | undefined {
    return this.#source?.foreignServer();
  }
}
