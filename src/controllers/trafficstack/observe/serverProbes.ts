import type { AskValues } from '../../../prometheus/askValues.ts';
import { askValuesOf } from '../../../prometheus/askValues.ts';
import { within } from '../../../prometheus/deadline.ts';
import { createPrometheusClient } from '../../../prometheus/prometheusClient.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { StandInProbe } from '../../contract/builtIn.ts';
import { RecentReads } from './recentReads.ts';

/** Less than a reconcile may take: the other components of the stack wait for the answer. */
const TIMEOUT_MS = 3_000;
const NEVER = new AbortController().signal;

export interface ServerProbesOptions {
  readonly clock: Clock;
  /** Asks the Prometheus of a URL. Default: over HTTP. */
  readonly ask?: (url: string, ...query: Parameters<AskValues>) => ReturnType<AskValues>;
}

/** Asks servers of somebody else whether they are of use: each at most once in 5 s. */
export class ServerProbes {
  readonly #clock: Clock;
  readonly #ask: NonNullable<ServerProbesOptions['ask']>;
  readonly #recent: RecentReads<string | undefined>;

  constructor({ clock, ask = askOnce }: ServerProbesOptions) {
    this.#clock = clock;
    this.#ask = ask;
    this.#recent = new RecentReads(clock);
  }

  /** Why it is of no use: a sentence without its subject. Undefined if it is. Never rejects. */
  problem({ query, series }: Pick<StandInProbe, 'query' | 'series'>, url: string): Promise<string | undefined> {
    return this.#recent.read(`${url} ${query}`, async () => {
      try {
        const limits = { clock: this.#clock, timeoutMs: TIMEOUT_MS, stopped: NEVER };
        const values = await within(limits, ({ signal }) => this.#ask(url, query, signal));
        return values.length > 0 ? undefined : `has no ${series}: ${query} gives nothing at ${url}`;
      } catch (error) {
        return `gives no answer at ${url}: ${error instanceof Error ? error.message : String(error)}`;
      }
    });
  }
}

async function askOnce(url: string, ...query: Parameters<AskValues>): ReturnType<AskValues> {
  const client = createPrometheusClient({ url, isNear: true });
  try {
    return await askValuesOf(client)(...query);
  } finally {
    client.close();
  }
}
