import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A secret text in the server's answers. It must appear nowhere else. */
export const SAID = 'SAID-by-the-server';

/** How a server, or a proxy in front of it, can fail. Most answers repeat the request. */
const FAILURES = {
  unauthorized: (q, a) => a.writeHead(401, { 'www-authenticate': `Bearer realm="${echo(q)}"` }).end(page(q)),
  forbidden: (q, a) => a.writeHead(403).end(page(q)),
  page500: (q, a) => a.writeHead(500).end(page(q)),
  page502: (q, a) => a.writeHead(502, SAID).end(page(q)),
  garbage: (q, a) => a.end(`{"status":"success","data":"${echo(q)}" ${SAID}`),
  anotherApi: (q, a) => a.end(JSON.stringify({ message: SAID, headers: echo(q) })),
  noVector: (q, a) => a.end(JSON.stringify({ status: 'success', data: { resultType: SAID, result: echo(q) } })),
  refusal: (q, a) => a.writeHead(422).end(apiError(`the query of ${echo(q)} cannot be executed`)),
  /** A secret is at the place where a long text is cut. */
  longRefusal: (q, a) => a.writeHead(400).end(apiError(`${'x'.repeat(170)} ${echo(q)}`)),
  warning: (q, a) =>
    a.end(
      JSON.stringify({ status: 'success', data: { resultType: 'vector', result: [] }, warnings: [`store ${echo(q)}`] }),
    ),
  elsewhere: (q, a) => a.writeHead(302, { location: `http://${SAID}:${SAID}@localhost/${SAID}?${SAID}` }).end(page(q)),
  noHttp: (q, a) => a.socket?.end(`${SAID} ${echo(q)}\r\n\r\n`),
  cutOff: (q, a) => {
    a.writeHead(200, { 'content-length': '1000' }).write(page(q));
    a.socket?.end();
  },
} satisfies Record<string, (question: IncomingMessage, answer: ServerResponse) => void>;

export type Failure = keyof typeof FAILURES;
export const EVERY_FAILURE = Object.keys(FAILURES) as readonly Failure[];

/** A server that replaces a Prometheus. */
export interface HostilePrometheus {
  readonly url: string;
  /** Fails in this way from now on. */
  failBy(failure: Failure): void;
  /** Requests since then. */
  asked(): number;
  /** All header values that were received. */
  received(): ReadonlySet<string>;
  stop(): void;
}

export async function startHostilePrometheus(): Promise<HostilePrometheus> {
  let failure: Failure = 'page500';
  let asked = 0;
  const received = new Set<string>();
  const server = createServer((question, answer) => {
    asked++;
    for (const value of Object.values(question.headers)) received.add(String(value));
    FAILURES[failure](question, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failBy: (next) => {
      failure = next;
      asked = 0;
    },
    asked: () => asked,
    received: () => received,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** All headers of the request on one line, as a debugging proxy prints them. */
function echo({ headers }: IncomingMessage): string {
  return Object.values(headers).map(String).join('  ').replaceAll('"', "'");
}

function page(question: IncomingMessage): string {
  return `<html><body>${SAID} ${echo(question)}</body></html>`;
}

function apiError(error: string): string {
  return JSON.stringify({ status: 'error', errorType: 'execution', error });
}
