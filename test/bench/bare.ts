import { Client, request } from 'undici';
import { factQuery, ratesQuery, type UsageQuery } from '../../src/usage/pass/queries.ts';
import { FACT_METRICS } from '../../src/usage/series/factMetrics.ts';
import { nodeName } from './shape.ts';

/**
 * Measures the servers with a client that discards their responses. The operator is compared with these limits. Each
 * function returns milliseconds.
 */
export class BareClient {
  readonly #client: Client;
  readonly #authorization: string;

  /** @param url of the API server; the token is the operator's, so that both use the same priority level */
  constructor(o: { url: string; ca: Buffer; token: string }) {
    this.#client = new Client(o.url, { allowH2: true, connect: { ca: o.ca } });
    this.#authorization = `Bearer ${o.token}`;
  }

  /** One watch-list of all Nodes, to the end of its list. */
  async watchList({ metadataOnly }: { metadataOnly: boolean }): Promise<number> {
    const begin = performance.now();
    const query = 'watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const { body } = await this.#client.request({
      method: 'GET',
      path: `/api/v1/nodes?${query}&resourceVersion=`,
      headers: {
        authorization: this.#authorization,
        accept: metadataOnly ? 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' : 'application/json',
      },
    });
    // The list ends with its own bookmark, but the response continues.
    let tail = '';
    for await (const chunk of body as AsyncIterable<Buffer>) {
      tail = (tail + chunk.toString('latin1')).slice(-chunk.length - LONGEST_MARK);
      if (tail.includes('k8s.io/initial-events-end')) break;
    }
    body.on('error', () => undefined).destroy();
    return performance.now() - begin;
  }

  /** Changes one label on each node, with as many concurrent calls as the operator may have. */
  async patchAll(nodes: number, value: string, concurrency: number): Promise<number> {
    const begin = performance.now();
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let index = next++; index < nodes; index = next++) await this.#patch(index, value);
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    return performance.now() - begin;
  }

  close(): Promise<void> {
    return this.#client.destroy();
  }

  async #patch(index: number, value: string): Promise<void> {
    const { statusCode, body } = await this.#client.request({
      method: 'PATCH',
      path: `/api/v1/nodes/${nodeName(index)}?fieldManager=bench`,
      headers: {
        authorization: this.#authorization,
        'content-type': 'application/merge-patch+json',
        accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      },
      // A key with the operator's suffix: its token may write no other key.
      body: JSON.stringify({ metadata: { labels: { 'bare.traffic.example.com/unfit': value } } }),
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`PATCH of ${nodeName(index)}: HTTP ${statusCode}`);
  }
}

const LONGEST_MARK = 64;

/** The queries of a pass for rates and facts at once; discards the responses. */
export async function bareQuery(prometheusUrl: string, query: UsageQuery): Promise<number> {
  const begin = performance.now();
  await Promise.all(
    [ratesQuery(query), ...FACT_METRICS.map((metric) => factQuery(query, metric))].map((each) =>
      ask(prometheusUrl, each),
    ),
  );
  return performance.now() - begin;
}

/** The query of every pass, for any number of nodes. */
export async function bareRatesQuery(prometheusUrl: string, query: UsageQuery): Promise<number> {
  const begin = performance.now();
  await ask(prometheusUrl, ratesQuery(query));
  return performance.now() - begin;
}

async function ask(url: string, expression: string): Promise<void> {
  const answer = await request(`${url}/api/v1/query?${new URLSearchParams({ query: expression }).toString()}`);
  if (answer.statusCode !== 200) throw new Error(`${expression}: HTTP ${answer.statusCode}`);
  await answer.body.dump({ limit: Infinity });
}
