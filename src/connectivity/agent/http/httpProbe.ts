import type { ProbeResult } from '../../../api/agent/report.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { RefusedUrl } from '../../protocol/measurement.ts';
import { RefusedTarget } from './checkedTarget.ts';
import { requestOnce, type RequestOptions } from './httpRequest.ts';
import { probeResult } from './probeTimes.ts';
import type { TargetRule } from './targetRule.ts';

/** As Go's http.Client, which the original agent uses. */
const MOST_REDIRECTS = 10;

interface ProbeOptions extends RequestOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Decides about every address, after the lookup of its name. */
  readonly rule: TargetRule;
  /** Whether the owner of the agent chose the URL: the rule holds for its redirects only. */
  readonly isTrusted?: boolean;
}

/** The outcome of a URL: a result, or the address for which the URL or its redirect was not requested. */
export type UrlProbe = { readonly result: ProbeResult } | { readonly refused: RefusedUrl };

/**
 * Requests a URL on a new connection and measures each part. Follows redirects, and returns the times of the last request.
 * A redirect to another scheme, or with a user or a password, is not followed: it is the result. Never rejects: a failed
 * request is also a result.
 *
 * @param text the URL as reports and metrics show it
 */
export async function probeHttp(text: string, url: URL, o: ProbeOptions): Promise<UrlProbe> {
  const deadline = AbortSignal.timeout(o.timeoutMs);
  const signal = o.signal === undefined ? deadline : AbortSignal.any([deadline, o.signal]);
  let times = await requestOnce(url, o.clock, signal, o.isTrusted === true ? { ...o, rule: undefined } : o);
  for (let n = 0; n < MOST_REDIRECTS && times.location !== undefined; n += 1) {
    const next = URL.parse(times.location, times.url.href);
    if (next === null || !isFollowed(next)) break;
    times = await requestOnce(next, o.clock, signal, o);
  }
  const { error } = times;
  if (error instanceof RefusedTarget) {
    return { refused: { url: text, address: error.address, reason: error.reason } };
  }
  return { result: probeResult(text, times) };
}

/** Refuses credentials: whoever answers chooses them, and the agent would send them from its own address. */
function isFollowed({ protocol, username, password }: URL): boolean {
  return /^https?:$/.test(protocol) && username === '' && password === '';
}
