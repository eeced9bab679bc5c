import { askLabelsOf, type AskLabels, type SeriesLabels } from '../../../prometheus/askValues.ts';
import { within } from '../../../prometheus/deadline.ts';
import { createPrometheusClient } from '../../../prometheus/prometheusClient.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { StandInProbe } from '../../contract/builtIn.ts';
import { RecentCalls } from './recentCalls.ts';

/** Less than a reconcile may take: the other components of the stack wait for the answer. */
const TIMEOUT_MS = 3_000;
/** Servers of which a series is remembered. More than a cluster has; Services come and go. */
const MOST_REMEMBERED = 50;
/** Names of labels that a selector may have in any version. */
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Asks the Prometheus of a URL. */
type AskServer = (url: string, ...query: Parameters<AskLabels>) => ReturnType<AskLabels>;

export interface ServerProbesOptions {
  readonly clock: Clock;
  /** Default: over HTTP. */
  readonly ask?: AskServer;
}

/**
 * Asks servers of somebody else whether they are of use: each at most once in 5 s. Whether a server has series of a metric, it can only tell by
 * a look at all of them, hundreds of thousands in a large cluster. So this is asked once, and then whether one of them is still there. When
 * that has ended, as with its node, all are asked for again, at once.
 */
export class ServerProbes {
  readonly #clock: Clock;
  readonly #ask: AskServer;
  readonly #recent: RecentCalls<string | undefined>;
  /** By URL and metric, the series that was found last. */
  readonly #seen = new Map<string, SeriesLabels>();

  constructor({ clock, ask = askOnce }: ServerProbesOptions) {
    this.#clock = clock;
    this.#ask = ask;
    this.#recent = new RecentCalls(clock);
  }

  /** Why it is of no use: a sentence without its subject. Undefined if it is. Never rejects. */
  problem(probe: Pick<StandInProbe, 'metric' | 'series'>, url: string): Promise<string | undefined> {
    return this.#recent.call(`${url} ${probe.metric}`, async () => {
      try {
        const limits = { clock: this.#clock, timeoutMs: TIMEOUT_MS };
        const isThere = await within(limits, ({ signal }) => this.#hasSeries(probe.metric, url, signal));
        return isThere ? undefined : `has no ${probe.series}: ${probe.metric} gives nothing at ${url}`;
      } catch (error) {
        return `gives no answer at ${url}: ${error instanceof Error ? error.message : String(error)}`;
      }
    });
  }

  async #hasSeries(metric: string, url: string, signal: AbortSignal): Promise<boolean> {
    const key = `${url} ${metric}`;
    const seen = this.#seen.get(key);
    if (seen !== undefined) {
      const still = await this.#ask(url, `count(${selectorOf(metric, seen)})`, signal);
      if (still.length > 0) return true;
    }
    const [found] = await this.#ask(url, `topk(1, ${metric})`, signal);
    this.#seen.delete(key);
    if (found === undefined) return false;
    this.#seen.set(key, found);
    for (const first of this.#seen.keys()) if (this.#seen.size > MOST_REMEMBERED) this.#seen.delete(first);
    return true;
  }
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
