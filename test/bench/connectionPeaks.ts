import { socketsTo } from '../harness/sockets.ts';

const LOOK_EVERY_MS = 100;

/** Looks at a process' connections to one port of loopback for as long as the process is there. */
export class ConnectionPeaks {
  readonly #port: number;
  readonly #peaks: number[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  /** The most that there were at once, a process each. */
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
