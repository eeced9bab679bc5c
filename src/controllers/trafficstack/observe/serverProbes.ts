import type { CachedNode } from '../../../nodes/cachedNode.ts';
import { measurableNodes, type MeasurablePlace, type Placement } from '../../../nodes/nodeAffinity.ts';
import { createNodeResolver } from '../../../nodes/nodeNames.ts';
import { askLabelsOf, type AskLabels, type SeriesLabels } from '../../../prometheus/askValues.ts';
import { within } from '../../../prometheus/deadline.ts';
import { createPrometheusClient } from '../../../prometheus/prometheusClient.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { isMost, type Proof, type StandIn, type StandInProbe } from '../../contract/builtIn.ts';
import { RecentCalls } from './recentCalls.ts';

/** Less than a reconcile may take: the other components of the stack wait for the answer. */
const TIMEOUT_MS = 3_000;
/** How long a look at all series counts, while one of them is still there: ms. */
const PROVEN_MS = 60_000;
/** The same if another look has no answer in time: a large server that is busy for a while is of use all the same. */
const UNANSWERED_MS = 600_000;
/** Servers of which a series is remembered. More than a cluster has; Services come and go. */
const MOST_REMEMBERED = 50;
/** Names of labels that a selector may have in any version. */
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Asks the Prometheus of a URL. */
type AskServer = (url: string, ...query: Parameters<AskLabels>) => ReturnType<AskLabels>;

/** A node that series may be of. */
export type ProbedNode = Pick<CachedNode, 'addresses'> & MeasurablePlace;

/** What a server is asked for, and the nodes that matter. */
export type ServerQuestion = Pick<StandInProbe, 'metric' | 'series'> & Pick<StandIn, 'placement'>;

export interface ServerProbesOptions {
  readonly clock: Clock;
  readonly nodes: () => readonly ProbedNode[];
  /** Default: over HTTP. */
  readonly ask?: AskServer;
}

/**
 * Asks servers of somebody else whether they are of use: each at most once in 5 s. A server is of use if it has series of most nodes that can be
 * measured: a server of another cluster, or one that somebody has made to look like a Prometheus, has none of them. It can only tell by a look at
 * all series, hundreds of thousands in a large cluster. So this is asked once in a minute, and meanwhile whether one of them is still there. When
 * that has ended, as with its node, all are asked for again, at once.
 */
export class ServerProbes {
  readonly #o: Required<ServerProbesOptions>;
  readonly #recent: RecentCalls<Proof>;
  /** By URL and metric. */
  readonly #seen = new Map<string, Seen>();

  constructor({ ask = askOnce, ...options }: ServerProbesOptions) {
    this.#o = { ask, ...options };
    this.#recent = new RecentCalls(options.clock);
  }

  /** How far it measures the nodes. Never rejects. */
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

/** A look at all series of a server. */
interface Seen {
  /** Of one of them, which is of a node that can be measured. */
  readonly labels: SeriesLabels;
  /** By the monotonic clock. */
  readonly at: number;
  readonly proof: Proof;
  /** Whether the last question for that one was answered, with it. */
  isStillThere: boolean;
}

/** How far a server measures the nodes whose series it has. */
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

/** Of how many nodes that can be measured there are series, and the labels of one of them. */
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
    // The escapes of JSON are among those of PromQL.
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
