import { readFileSync } from 'node:fs';

/** State 01 of /proc/net/tcp (proc(5)). */
const ESTABLISHED = '01';

/** Counts the connections of this machine to some ports of 127.0.0.1 by sampling. */
export class ConnectionCount {
  readonly #ports: ReadonlySet<number>;
  readonly #seen = new Set<string>();
  #open = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(ports: readonly number[]) {
    this.#ports = new Set(ports);
    this.#timer = setInterval(() => this.#look(), 100);
  }

  /** The number of connections, and how many of them were closed. */
  get found(): { made: number; ended: number } {
    return { made: this.#seen.size, ended: this.#seen.size - this.#open.size };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const rows = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
    const ends = rows.map((row) => row.trim().split(/\s+/)).filter(([, , , state]) => state === ESTABLISHED);
    const open = ends
      .filter(([, , remote]) => this.#ports.has(portOf(remote)))
      .map(([, local, remote]) => `${local} ${remote}`);
    this.#open = new Set(open);
    for (const each of open) this.#seen.add(each);
  }
}

function portOf(address = ''): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16);
}
