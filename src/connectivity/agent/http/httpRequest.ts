import { Agent as HttpAgent, request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { LookupFunction } from '../../../runtime/process/nameLookup.ts';
import type { ProbeTimes } from './probeTimes.ts';
import { checkedLookup, refusedHost, type TargetRule } from './targetRule.ts';

/** How an https URL is trusted. */
export interface Trust {
  /** PEM of the authorities. Empty with `rejectUnauthorized: false`, so that Node.js does not parse its own list. */
  readonly ca: string | [];
  readonly rejectUnauthorized?: false;
}

/** The times of a request, and its error if it failed. */
export interface RequestTimes extends ProbeTimes {
  url: URL;
  error?: unknown;
}

/** How a request is sent, where it differs from what Node.js does. */
export interface RequestOptions {
  readonly trust?: Trust | undefined;
  readonly lookup?: LookupFunction | undefined;
  /** Decides whether an address may be requested. Absent for an address that no user chose. */
  readonly rule?: TargetRule | undefined;
}

/**
 * Sends one GET on a new connection, and reads the response to its end. Never rejects: `error` is a RefusedTarget if `rule`
 * refuses the address, and nothing is sent then.
 */
export function requestOnce(
  url: URL,
  clock: Clock,
  signal: AbortSignal,
  o: RequestOptions = {},
): Promise<RequestTimes> {
  const now = (): number => clock.monotonic();
  const times: RequestTimes = { url, start: now() };
  const refused = o.rule && refusedHost(url, o.rule);
  if (refused !== undefined) return Promise.resolve({ ...times, end: times.start, error: refused });
  const lookup = o.rule === undefined ? o.lookup : checkedLookup(o.rule, o.lookup);
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
      { agent, signal, ...o.trust, ...(lookup !== undefined && { lookup }) },
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
