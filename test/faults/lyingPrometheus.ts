import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { freePorts } from '../harness/process.ts';
import type { Lie, TrueAnswer } from './lyingAnswers.ts';

/** A proxy in front of a real Prometheus that can be told to answer something else. */
export interface LyingPrometheus {
  /** http://127.0.0.1:port */
  readonly url: string;
  /** Its answer to each request from now on; undefined: it tells the truth. */
  lie: Lie | undefined;
  /** Requests that are held and nobody has given up on yet. */
  readonly held: number;
  /** Requests so far. */
  readonly asked: number;
  /** It refuses connections until `listen`. */
  refuse(): Promise<void>;
  listen(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the proxy in front of `realUrl`; it tells the truth. */
export async function startLyingPrometheus(realUrl: string): Promise<LyingPrometheus> {
  const open = new Set<ServerResponse>();
  let asked = 0;
  const server = createServer((request, response) => {
    asked++;
    open.add(response);
    response.once('close', () => open.delete(response));
    const truth = (): Promise<TrueAnswer> => askFor(realUrl, request);
    const lie = proxy.lie ?? tellTheTruth;
    Promise.resolve(lie(response, truth)).catch(() => response.destroy());
  });
  // Of no automatic range: while it refuses connections, nobody else gets it.
  const [port] = (await freePorts(1)) as [number];
  const listen = (): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  await listen();
  const refuse = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const proxy: LyingPrometheus = {
    url: `http://127.0.0.1:${port}`,
    lie: undefined,
    get held() {
      return open.size;
    },
    get asked() {
      return asked;
    },
    refuse,
    listen,
    stop: refuse,
  };
  return proxy;
}

const tellTheTruth: Lie = async (response, truth) => {
  const { status, headers, body } = await truth();
  response.writeHead(status, headers).end(body);
};

/** Headers that a rewritten body must not keep. */
const OF_THE_CONNECTION = ['content-length', 'transfer-encoding', 'connection'];

async function askFor(realUrl: string, request: IncomingMessage): Promise<TrueAnswer> {
  const { method, url = '/', headers } = request;
  const target = new URL(url, realUrl);
  return new Promise((resolve, reject) => {
    // Without compression, so that a lie may rewrite what was said.
    const outgoing = ask(target, { method, headers: { ...headers, 'accept-encoding': 'identity', host: target.host } });
    outgoing.once('error', reject);
    outgoing.once('response', (answer) => void read(answer).then(resolve, reject));
    request.pipe(outgoing);
  });
}

async function read(answer: IncomingMessage): Promise<TrueAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const headers = Object.fromEntries(
    Object.entries(answer.headers).filter(([name]) => !OF_THE_CONNECTION.includes(name)),
  );
  return { status: answer.statusCode ?? 0, headers, body: Buffer.concat(chunks).toString('utf8') };
}
