import * as z from 'zod';
import type { Logger } from '../../../../runtime/process/logger.ts';
import type { AgentState } from '../../reports/reports.ts';
import type { StoreBackend } from '../reportStore.ts';
import { keptSeconds } from '../storeWrites.ts';
import { agentValue, readAgentValue } from './agentValue.ts';
import { EtcdError, type EtcdClient } from './etcdClient.ts';

interface EtcdStoreOptions {
  readonly client: Pick<EtcdClient, 'call'>;
  /** The prefix of all keys: `netchecker`. */
  readonly tree: string;
  readonly ttlMs: number;
  readonly pingTimeoutMs: number;
  readonly logger: Logger;
}

/** Below the default of etcd's --max-txn-ops, 128. */
const MOST_KEYS = 100;
/** Below the default of etcd's --max-request-bytes, 1.5 MiB, with room for keys. */
const MOST_BYTES = 1024 * 1024;
/** Agents in a page of the list. 200 values of 64 KiB in base64 are 17 MB. */
const PAGE = 200;
/** HTTP status of InvalidArgument: a request that is too large, or has too many operations. */
const INVALID = 400;

/** 64-bit integers are strings in the JSON of gRPC. */
const granted = z.object({ ID: z.string() });
const range = z.object({
  more: z.boolean().optional(),
  kvs: z.array(z.object({ key: z.base64(), value: z.base64().default('') })).default([]),
});

/**
 * Keeps reports and counters in etcd v3: `<tree>/agents/<pod>`, and "pong" in `<tree>/ping`.
 *
 * Each write takes up to 100 agents in one transaction, under a new lease that they share. So a lease is never renewed:
 * agents that report move to the next lease at least every half TTL, and other agents expire with the old lease. A lease for
 * each agent would cost two requests for each write of each agent; one lease for all would keep agents that no longer
 * exist. A write is two requests, so writes are half as frequent as single requests.
 */
export class EtcdStore implements StoreBackend {
  readonly mostAtOnce = MOST_KEYS;
  readonly paceMs = 200;
  readonly #o: EtcdStoreOptions;
  readonly #prefix: string;

  constructor(options: EtcdStoreOptions) {
    this.#o = options;
    this.#prefix = `${options.tree}/agents/`;
  }

  /** Writes the ping, as the original did at its start, then reads the agents. */
  async list(signal: AbortSignal): Promise<readonly AgentState[]> {
    const { client, tree, pingTimeoutMs } = this.#o;
    await client.call('/v3/kv/put', { key: base64(`${tree}/ping`), value: base64('pong') }, signal, pingTimeoutMs);
    const states: AgentState[] = [];
    // The end of the keys with the prefix: "0" follows "/".
    const rangeEnd = base64(`${this.#prefix.slice(0, -1)}0`);
    for (let key: string | undefined = base64(this.#prefix); key !== undefined;) {
      const page = range.parse(await client.call('/v3/kv/range', { key, range_end: rangeEnd, limit: PAGE }, signal));
      states.push(...page.kvs.flatMap((kv) => this.#stateOf(text(kv.key), text(kv.value))));
      key = page.more === true ? base64(`${text(page.kvs.at(-1)?.key ?? '')}\0`) : undefined;
    }
    return states;
  }

  async put(states: readonly AgentState[], signal: AbortSignal): Promise<readonly AgentState[]> {
    const { client, ttlMs } = this.#o;
    const puts = fitting(states);
    const seconds = Math.max(...puts.map(({ state }) => keptSeconds(state.report, ttlMs)));
    const { ID: lease } = granted.parse(await client.call('/v3/lease/grant', { TTL: String(seconds) }, signal));
    const success = puts.map(({ state: { report }, value }) => ({
      requestPut: { key: base64(this.#prefix + report.podname), value: base64(value), lease },
    }));
    await client.call('/v3/kv/txn', { success }, signal);
    return puts.map(({ state }) => state);
  }

  async delete(pods: readonly string[], signal: AbortSignal): Promise<void> {
    const success = pods.map((pod) => ({ requestDeleteRange: { key: base64(this.#prefix + pod) } }));
    await this.#o.client.call('/v3/kv/txn', { success }, signal);
  }

  isRefusal(error: unknown): boolean {
    return error instanceof EtcdError && error.status === INVALID;
  }

  #stateOf(key: string, value: string): AgentState[] {
    const state = readAgentValue(key.slice(this.#prefix.length), value);
    if (state === undefined) this.#o.logger.warn({ key }, 'a value in etcd is no report of this server; it is ignored');
    return state === undefined ? [] : [state];
  }
}

/** The first of the states whose values fit into one request, and at least one. */
function fitting(states: readonly AgentState[]): { state: AgentState; value: string }[] {
  const fits: { state: AgentState; value: string }[] = [];
  let bytes = 0;
  for (const state of states) {
    const value = agentValue(state);
    bytes += Buffer.byteLength(value);
    if (fits.length > 0 && bytes > MOST_BYTES) break;
    fits.push({ state, value });
  }
  return fits;
}

function base64(value: string): string {
  return Buffer.from(value).toString('base64');
}

function text(encoded: string): string {
  return Buffer.from(encoded, 'base64').toString();
}
