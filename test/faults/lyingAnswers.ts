import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

/** The answer of the real server to a request. */
export interface TrueAnswer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}

/** Answers a request instead of the real server, or rewrites its answer. An error that it throws breaks the connection. */
export type Lie = (response: ServerResponse, truth: () => Promise<TrueAnswer>) => void | Promise<void>;

/** An element of the answer to an instant query, as the Prometheus API writes it. */
export interface Series {
  metric: Record<string, string>;
  value: [timeSeconds: number, text: string];
}

/** The body of the answer to an instant query. */
export interface AnswerBody {
  status: string;
  data: { resultType: string; result: Series[] };
  warnings?: string[];
}

const MIB = 1024 * 1024;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const BEGINNING = '{"status":"success","data":{"resultType":"vector","result":[';
const ONE_SERIES = JSON.stringify({
  metric: { __name__: 'node_network_speed_bytes', node: 'n1', device: 'eth0', instance: 'n1:9100' },
  value: [0, '1'],
});
/** Whole series, about a MiB of them. */
const SERIES_CHUNK = `${ONE_SERIES},`.repeat(Math.ceil(MIB / ONE_SERIES.length));

export const badGateway: Lie = (response) => {
  response.writeHead(502, { 'Content-Type': 'text/html' });
  response.end('<html><head><title>502 Bad Gateway</title></head><body>nginx s3cret</body></html>');
};

export const garbage: Lie = (response) => {
  response.writeHead(200, JSON_TYPE).end('\u0000\u0001{"status":"success","data":{{{ s3cret');
};

/** JSON of the right shape but for the result: a matrix where a vector was asked for. */
export const matrix: Lie = (response) => {
  response.writeHead(200, JSON_TYPE).end('{"status":"success","data":{"resultType":"matrix","result":[]}}');
};

/** Breaks off in the middle of what would have been a good answer. */
export const truncated: Lie = async (response, truth) => {
  const { body } = await truth();
  response.writeHead(200, { ...JSON_TYPE, 'Content-Length': Buffer.byteLength(body) });
  response.write(body.slice(0, body.length / 2));
  await pause(50);
  response.destroy();
};

/** The truth, but only after `ms`. */
export const late =
  (ms: number): Lie =>
  async (response, truth) => {
    const { status, headers, body } = await truth();
    await pause(ms, undefined, { ref: false });
    response.writeHead(status, headers).end(body);
  };

/**
 * As many MiB of series as told, Infinity for an answer without end; as fast as they are taken.
 * @param taken gets the number of MiB that went out before the other side had enough
 */
export const large =
  (mebibytes: number, taken: (mebibytes: number) => void): Lie =>
  async (response) => {
    response.writeHead(200, JSON_TYPE);
    response.write(BEGINNING);
    const closed = once(response, 'close');
    let sent = 0;
    for (; sent < mebibytes && !response.destroyed; sent++) {
      if (!response.write(SERIES_CHUNK)) await Promise.race([once(response, 'drain'), closed]);
    }
    taken(sent);
    response.end(`${ONE_SERIES}]}}`);
  };

/** The same compressed: a few hundred KiB on the wire. */
export function compressed(mebibytes: number): Lie {
  const body = gzipSync(`${BEGINNING}${SERIES_CHUNK.repeat(mebibytes)}${ONE_SERIES}]}}`);
  return (response) => {
    response.writeHead(200, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }).end(body);
  };
}

/** The truth with something changed in each answer that holds a vector. */
export const rewritten =
  (change: (answer: AnswerBody) => AnswerBody, more: Record<string, string> = {}): Lie =>
  async (response, truth) => {
    const { status, headers, body } = await truth();
    const answer = JSON.parse(body) as AnswerBody;
    const said = answer.data.resultType === 'vector' ? change(answer) : answer;
    response.writeHead(status, { ...headers, ...more }).end(JSON.stringify(said));
  };

/** Rewrites the answer to the answer of a server whose clock is wrong by so many seconds. */
export const clockOff = (seconds: number): Lie => {
  const shift = (answer: AnswerBody): AnswerBody => ({
    ...answer,
    data: {
      ...answer.data,
      result: answer.data.result.map(({ metric, value: [time, text] }) => ({ metric, value: [time + seconds, text] })),
    },
  });
  return (response, truth) =>
    rewritten(shift, { Date: new Date(Date.now() + seconds * 1000).toUTCString() })(response, truth);
};
