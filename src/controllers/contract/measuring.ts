import type { Placement } from '../../nodes/nodeAffinity.ts';
import type { Problem } from '../../runtime/process/problem.ts';

/** Reports the state of the measurement. */
export interface MeasuringSource {
  /** The present problems; empty if everything is in the desired state. */
  problems(): readonly Problem[];
  /** Returns why the Prometheus of our name must not be queried: it is foreign. Undefined if it is ours. */
  foreignServer(): string | undefined;
  /** Returns the scrape interval of the deployed Prometheus: seconds. Undefined if that is not known. */
  scrapeIntervalSeconds(): number | undefined;
  /** Returns where the deployed node-exporter runs. Undefined if there is none, or that is not known yet. */
  exporterPlacement(): Placement | undefined;
}

/**
 * The state of the measurement. The measurement controller provides it; the feed and the other controllers read it.
 * This object connects them, so that they can be created in any order.
 */
export class MeasuringState implements MeasuringSource {
  #source: MeasuringSource | undefined;

  /** Sets the source. Call once. Before that, there are no problems. */
  tellBy(source: MeasuringSource): void {
    this.#source = source;
  }

  problems(): readonly Problem[] {
    return this.#source?.problems() ?? [];
  }

  foreignServer(): string | undefined {
    return this.#source?.foreignServer();
  }

  scrapeIntervalSeconds(): number | undefined {
    return this.#source?.scrapeIntervalSeconds();
  }

  exporterPlacement(): Placement | undefined {
    return this.#source?.exporterPlacement();
  }
}
