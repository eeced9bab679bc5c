import { addressOn, type NodeAddresses } from '../../../../nodes/nodeAddress.ts';
import { within } from '../../../../prometheus/deadline.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import type { StandInListener } from '../../../contract/builtIn.ts';
import type { ListeningNodes } from '../observation.ts';
import { RecentCalls } from '../recentCalls.ts';
import { getPage } from './page.ts';

/** Nodes that are asked: enough to tell an exporter of all nodes from a program on one of them. */
const MOST_ASKED = 10;
/** A firewall may drop the request, and the other components of the stack wait for the answer. */
const TIMEOUT_MS = 3_000;

export interface NodeListenersOptions {
  readonly clock: Clock;
  readonly nodes: () => readonly NodeAddresses[];
  /** Gets the text of a page. Default: over HTTP. Rejects if there is none. */
  readonly get?: (url: string, signal: AbortSignal) => Promise<string>;
}

/** Asks nodes whether a program listens on a port of them, such as a node-exporter that systemd runs: each port at most once in 5 s. */
export class NodeListeners {
  readonly #o: NodeListenersOptions;
  readonly #recent: RecentCalls<ListeningNodes>;

  constructor(options: NodeListenersOptions) {
    this.#o = options;
    this.#recent = new RecentCalls(options.clock);
  }

  /** The first ten measurable nodes by name that have an IP address, and those of them that answer. Never rejects. */
  ask({ port, path, contains }: StandInListener): Promise<ListeningNodes> {
    return this.#recent.call(`${port} ${path}`, async () => {
      const asked = this.#o
        .nodes()
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .flatMap((node) => {
          const address = addressOn(node, port);
          return address === undefined ? [] : [{ name: node.name, url: `http://${address}${path}` }];
        })
        .slice(0, MOST_ASKED);
      const answers = await Promise.all(asked.map(({ url }) => this.#has(url, contains)));
      return {
        port,
        asked: asked.length,
        answering: asked.filter((_, index) => answers[index]).map(({ name }) => name),
      };
    });
  }

  async #has(url: string, text: string): Promise<boolean> {
    const { clock, get = getPage } = this.#o;
    try {
      return (await within({ clock, timeoutMs: TIMEOUT_MS }, ({ signal }) => get(url, signal))).includes(text);
    } catch {
      return false;
    }
  }
}
