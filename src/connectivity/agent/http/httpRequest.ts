import { Agent as HttpAgent, request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { LookupFunction } from '../../../runtime/process/nameLookup.ts';
import type { ProbeTimes } from './probeTimes.ts';

/** How an https URL is trusted. */
export interface Trust {
  /** PEM of the authorities. Empty with `rejectUnauthorized: false`, so that Node.js does not parse its own list. */
  readonly ca: string | [];
  readonly rejectUnauthorized?: false;
}

/** What was seen of a request, and why it failed if it did. */
export interface RequestTimes extends ProbeTimes {
  url: URL;
  error?: unknown;
}

/** How a request is sent, where it differs from what Node.js does. */
export interface RequestOptions {
  readonly trust?: Trust | undefined;
  readonly lookup?: LookupFunction | undefined;
}

/** Sends one GET on a new connection, and reads the response to its end. Never rejects. */
export function requestOnce(
  url: URL,
  clock: Clock,
  signal: AbortSignal,
  { trust, lookup }: RequestOptions = {},
): Promise<RequestTimes> {
  const now = (): number => clock.monotonic();
  const times: RequestTimes = { url, start: now() };
  const isTls = url.protocol === 'https:';
  return new Promise((resolve) => {
    const finish = (error?: unknown): void => {
      times.end ??= now();
      times.error ??= error;
      resolve(times);
    };
    const agent = isTls ? new HttpsAgent({ keepAlive: false }) : new HttpAgent({ keepAlive: false });
    const request = (isTls ? requestHttps : requestHttp)(
      url,
      { agent, signal, ...trust, ...(lookup !== undefined && { lookup }) },
      (response) => readResponse(response, times, now, finish),
    );
    observeSocket(request, times, now);
    request.on('finish', () => (times.requestSent = now()));
    request.on('error', finish);
    request.on('close', () => finish());
    request.end();
  });
}

function observeSocket(request: ClientRequest, times: ProbeTimes, now: () => number): void {
  request.on('socket', (socket) => {
    socket.on('lookup', (error: Error | null) => {
      if (error === null) times.lookedUp = now();
    });
    socket.on('connect', () => (times.connected = now()));
  });
}

function readResponse(
  response: IncomingMessage,
  times: ProbeTimes,
  now: () => number,
  done: (error?: unknown) => void,
): void {
  times.firstByte = now();
  times.status = response.statusCode ?? 0;
  const { location } = response.headers;
  if (times.status >= 300 && times.status < 400 && location !== undefined) times.location = location;
  response.on('end', () => done());
  response.on('error', done);
  response.resume();
}
