import { Agent as HttpAgent, request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestHttps, Agent as HttpsAgent } from 'node:https';
import type { ProbeResult } from '../../api/agent/report.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import { probeResult, type ProbeTimes } from './probeTimes.ts';

/** As Go's http.Client, which the original agent uses. */
const MOST_REDIRECTS = 10;

interface ProbeOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Requests a URL on a new connection and measures each part. Follows redirects: the times are those of the last request.
 * Never rejects: a request that fails is a result, too.
 *
 * @param text the URL as reports and metrics show it
 */
export async function probeHttp(text: string, url: URL, o: ProbeOptions): Promise<ProbeResult> {
  const deadline = AbortSignal.timeout(o.timeoutMs);
  const signal = o.signal === undefined ? deadline : AbortSignal.any([deadline, o.signal]);
  let times = await requestOnce(url, o.clock, signal);
  for (let n = 0; n < MOST_REDIRECTS && times.location !== undefined; n += 1) {
    const next = URL.parse(times.location, times.url.href);
    if (next === null || !/^https?:$/.test(next.protocol)) break;
    times = await requestOnce(next, o.clock, signal);
  }
  return probeResult(text, times);
}

function requestOnce(url: URL, clock: Clock, signal: AbortSignal): Promise<ProbeTimes & { url: URL }> {
  const now = (): number => clock.monotonic();
  const times: ProbeTimes & { url: URL } = { url, start: now() };
  const isTls = url.protocol === 'https:';
  return new Promise((resolve) => {
    const finish = (): void => {
      times.end ??= now();
      resolve(times);
    };
    const agent = isTls ? new HttpsAgent({ keepAlive: false }) : new HttpAgent({ keepAlive: false });
    const request = (isTls ? requestHttps : requestHttp)(url, { agent, signal }, (response) =>
      readResponse(response, times, now, finish),
    );
    observeSocket(request, times, now);
    request.on('finish', () => (times.requestSent = now()));
    request.on('error', finish);
    request.on('close', finish);
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

function readResponse(response: IncomingMessage, times: ProbeTimes, now: () => number, done: () => void): void {
  times.firstByte = now();
  times.status = response.statusCode ?? 0;
  const { location } = response.headers;
  if (times.status >= 300 && times.status < 400 && location !== undefined) times.location = location;
  response.on('end', done);
  response.on('error', done);
  response.resume();
}
