import { request } from 'undici';
import type { CachedNode } from '../../../nodes/cachedNode.ts';
import { addressOn, type NodeAddresses } from '../../../nodes/nodeAddress.ts';
import { measurableNodes, type MeasurablePlace, type Placement } from '../../../nodes/nodeAffinity.ts';
import { createNodeResolver } from '../../../nodes/nodeNames.ts';
import { askLabelsOf, type AskLabels, type SeriesLabels } from '../../../prometheus/askValues.ts';
import { within } from '../../../prometheus/deadline.ts';
import { createPrometheusClient } from '../../../prometheus/prometheusClient.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import {
  isMost,
  type Proof,
  type ExternalProvider,
  type ProviderProbe,
  type ProviderListener,
} from '../../contract/builtIn.ts';
import type { ListeningNodes } from '../model/observation.ts';
import { RecentCalls } from './recentCalls.ts';

/** ms: less than the time of a reconcile, since the other components wait for the answer. */
const TIMEOUT_MS = 3_000;
/** ms: how long a query of all series counts while one of them still exists. */
const PROVEN_MS = 60_000;
/** ms: the same if a later query has no answer in time. A large server may be busy for a while. */
const UNANSWERED_MS = 600_000;
/** Servers with a remembered series. A cluster has fewer; Services come and go. */
const MOST_REMEMBERED = 50;
/** Label names that a selector may use in any version of Prometheus. */
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Queries the Prometheus at a URL. */
type AskServer = (url: string, ...query: Parameters<AskLabels>) => ReturnType<AskLabels>;

/** A node whose series a server may have. */
export type ProbedNode = Pick<CachedNode, 'addresses'> & MeasurablePlace;

/** The query of a server, and the nodes that matter. */
type ServerQuestion = Pick<ProviderProbe, 'metric' | 'series'> & Pick<ExternalProvider, 'placement'>;

interface ServerProbesOptions {
  readonly clock: Clock;
  readonly nodes: () => readonly ProbedNode[];
  /** Default: over HTTP. */
  readonly ask?: AskServer;
}

/**
 * Queries servers of other owners, each at most once in 5 s. A server is usable if it has series of most measurable nodes, which a server of another
 * cluster, or one that only looks like a Prometheus, has not. A query of all series, hundreds of thousands in a large cluster, is sent once a minute;
 * in between, a query of one of them. If that series has ended, all are queried again at once.
 */
export class ServerProbes {
  readonly #o: Required<ServerProbesOptions>;
  readonly #recent: RecentCalls<Proof>;
  /** Proofs by URL and metric. */
  readonly #seen = new Map<string, SeriesProof>();

  constructor({ ask = askOnce, ...options }: ServerProbesOptions) {
    this.#o = { ask, ...options };
    this.#recent = new RecentCalls(options.clock);
  }

  /** Returns how far a server measures the nodes. Never rejects. */
  proof(probe: ServerQuestion, url: string): Promise<Proof> {
    const { clock } = this.#o;
    const key = `${url} ${probe.metric}`;
    return this.#recent.call(key, async () => {
      try {
        return await within({ clock, timeoutMs: TIMEOUT_MS }, ({ signal }) => this.#look(probe, url, signal));
      } catch (error) {
        const seen = this.#seen.get(key);
        if (seen?.isStillThere === true && clock.monotonic() - seen.at < UNANSWERED_MS) return seen.proof;
        const why = error instanceof Error ? error.message : String(error);
        return { is: 'Unproven', lack: `gives no answer at ${url}: ${why}` };
      }
    });
  }

  async #look(probe: ServerQuestion, url: string, signal: AbortSignal): Promise<Proof> {
    const { ask, clock, nodes } = this.#o;
    const { metric } = probe;
    const key = `${url} ${metric}`;
    const seen = this.#seen.get(key);
    if (seen !== undefined) {
      seen.isStillThere = false;
      seen.isStillThere = (await ask(url, `count(${selectorOf(metric, seen.labels)})`, signal)).length > 0;
      if (seen.isStillThere && clock.monotonic() - seen.at < PROVEN_MS) return seen.proof;
    }
    const found = await ask(url, `count by (node, instance) (${metric})`, signal);
    this.#seen.delete(key);
    const { example, ...figures } = measuredBy(found, nodes(), probe.placement);
    const proof = proofOf(probe, url, { ...figures, isEmpty: found.length === 0 });
    if (example === undefined) return proof;
    this.#seen.set(key, { labels: example, at: clock.monotonic(), proof, isStillThere: true });
    for (const first of this.#seen.keys()) if (this.#seen.size > MOST_REMEMBERED) this.#seen.delete(first);
    return proof;
  }
}

/** The result of a query of all series. */
interface SeriesProof {
  /** Labels of one series, of a measurable node. */
  readonly labels: SeriesLabels;
  /** ms of the monotonic clock. */
  readonly at: number;
  readonly proof: Proof;
  /** True if the last query returned that series. */
  isStillThere: boolean;
}

/** Returns how far a server measures the nodes. */
function proofOf(
  { metric, series }: ServerQuestion,
  url: string,
  { measured, of, isEmpty }: { readonly measured: number; readonly of: number; readonly isEmpty: boolean },
): Proof {
  if (isEmpty) return { is: 'Unproven', lack: `has no ${series}: ${metric} gives nothing at ${url}` };
  if (isMost(measured, of)) return { is: 'Proven' };
  const lack = `has ${series} of ${measured} of ${of} nodes that can be measured, and needs more than half: ${metric} at ${url}`;
  return { is: measured > 0 ? 'Few' : 'Unproven', lack };
}

/** Counts the measurable nodes and those with series. Returns the labels of one series. */
function measuredBy(series: readonly SeriesLabels[], nodes: readonly ProbedNode[], placement?: Placement) {
  const resolver = createNodeResolver(new Map(nodes.map((node) => [node.name, node])));
  const measurable = new Set(measurableNodes(nodes, placement).map(({ name }) => name));
  const measured = new Map<string, SeriesLabels>();
  for (const labels of series) {
    const name = resolver.resolve(labels.node, labels.instance);
    if (typeof name === 'string' && measurable.has(name)) measured.set(name, labels);
  }
  return { measured: measured.size, of: measurable.size, example: measured.values().next().value };
}

/** Selects one series: each of its labels narrows the search in the index. */
function selectorOf(metric: string, labels: SeriesLabels): string {
  const matchers = Object.entries(labels)
    .filter(([name]) => name !== '__name__' && LABEL_NAME.test(name))
    // PromQL understands the escapes of JSON.
    .map(([name, value]) => `${name}=${JSON.stringify(value.toWellFormed())}`);
  return `${metric}{${matchers.join()}}`;
}

async function askOnce(url: string, ...query: Parameters<AskLabels>): ReturnType<AskLabels> {
  const client = createPrometheusClient({ url, isNear: true });
  try {
    return await askLabelsOf(client)(...query);
  } finally {
    client.close();
  }
}

/** Queried nodes: enough to tell an exporter on all nodes from a program on one. */
const MOST_NODES = 10;
/** ms: a firewall may drop the request, and the other components wait for the answer. */
const LISTENER_TIMEOUT_MS = 3_000;

interface NodeListenersOptions {
  readonly clock: Clock;
  readonly nodes: () => readonly NodeAddresses[];
  /** Gets the text of a page. Default: over HTTP. Rejects if there is none. */
  readonly get?: (url: string, signal: AbortSignal) => Promise<string>;
}

/** Checks whether a program listens on a port of the nodes, such as a node-exporter that systemd runs: each port at most once in 5 s. */
export class NodeListeners {
  readonly #o: NodeListenersOptions;
  readonly #recent: RecentCalls<ListeningNodes>;

  constructor(options: NodeListenersOptions) {
    this.#o = options;
    this.#recent = new RecentCalls(options.clock);
  }

  /** Queries the first ten nodes by name that have an IP address. Never rejects. */
  ask({ port, path, contains }: ProviderListener): Promise<ListeningNodes> {
    return this.#recent.call(`${port} ${path}`, async () => {
      const queried = this.#o
        .nodes()
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .flatMap((node) => {
          const address = addressOn(node, port);
          return address === undefined ? [] : [{ name: node.name, url: `http://${address}${path}` }];
        })
        .slice(0, MOST_NODES);
      const answers = await Promise.all(queried.map(({ url }) => this.#has(url, contains)));
      return {
        port,
        queried: queried.length,
        answering: queried.filter((_, index) => answers[index]).map(({ name }) => name),
      };
    });
  }

  async #has(url: string, text: string): Promise<boolean> {
    const { clock, get = getPage } = this.#o;
    try {
      return (await within({ clock, timeoutMs: LISTENER_TIMEOUT_MS }, ({ signal }) => get(url, signal))).includes(text);
    } catch {
      return false;
    }
  }
}

/** Bytes. A page of one collector of node-exporter has some KiB for each device. */
const LARGEST_BYTES = 1024 * 1024;

/**
 * Gets the text of a page, or its first MiB. Does not follow redirects, and closes the connection.
 *
 * @throws Error without an answer, or if its status is not 200
 */
export async function getPage(url: string, signal: AbortSignal): Promise<string> {
  const { statusCode, body } = await request(url, { signal, reset: true });
  if (statusCode !== 200) {
    body.on('error', () => undefined).destroy();
    throw new Error(`status ${statusCode}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop ends the connection.
    if (size >= LARGEST_BYTES) break;
  }
  return Buffer.concat(chunks).toString();
}
