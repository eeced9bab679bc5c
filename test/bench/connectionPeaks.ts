import { socketsTo } from '../harness/sockets.ts';

const LOOK_EVERY_MS = 100;

/** Samples the connections of a process to one port of loopback until the process ends. */
export class ConnectionPeaks {
  readonly #port: number;
  readonly #peaks: number[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  /** The peak number of connections of each process. */
  get peaks(): readonly number[] {
    return this.#peaks;
  }

  follow(pid: number): void {
    const index = this.#peaks.push(0) - 1;
    const look = () => {
      try {
        this.#peaks[index] = Math.max(this.#peaks[index]!, socketsTo(this.#port, pid).size);
      } catch {
        clearInterval(timer); // it has ended
      }
    };
    const timer = setInterval(look, LOOK_EVERY_MS);
    timer.unref();
    look(); // some are ended at once
  }
}
