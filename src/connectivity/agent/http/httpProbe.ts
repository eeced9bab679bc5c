import type { ProbeResult } from '../../../api/agent/report.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { requestOnce, type RequestOptions } from './httpRequest.ts';
import { probeResult } from './probeTimes.ts';

/** As Go's http.Client, which the original agent uses. */
const MOST_REDIRECTS = 10;

interface ProbeOptions extends RequestOptions {
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
  let times = await requestOnce(url, o.clock, signal, o);
  for (let n = 0; n < MOST_REDIRECTS && times.location !== undefined; n += 1) {
    const next = URL.parse(times.location, times.url.href);
    if (next === null || !/^https?:$/.test(next.protocol)) break;
    times = await requestOnce(next, o.clock, signal, o);
  }
  return probeResult(text, times);
}
