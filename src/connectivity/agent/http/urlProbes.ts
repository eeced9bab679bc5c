import { networkInterfaces } from 'node:os';
import type { ProbeResult } from '../../../api/agent/report.ts';
import { type Cidr, probeUrlOf, type HostAndPort, type ProbeUrl } from '../../../options/connectivityValues.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import type { NameLookup } from '../../../runtime/process/nameLookup.ts';
import { readTextFile } from '../../../runtime/process/textFile.ts';
import type { RefusedUrl } from '../../protocol/measurement.ts';
import { PING_PATH } from '../../protocol/ping.ts';
import { deadline } from '../deadline.ts';
import { requestOnce, type RequestOptions, type Trust } from './httpRequest.ts';
import { probeResult } from './probeTimes.ts';
import { RefusedTarget, targetRule, type TargetRule } from './targetRule.ts';

/**
 * The interface with the addresses of all Services, where kube-proxy uses IPVS. They lead to the pods of the Services, not to
 * the node. Node.js does not list it while it is down, as kube-proxy leaves it.
 */
const IPVS_INTERFACE = 'kube-ipvs0';

export interface UrlProbesOptions {
  readonly server: HostAndPort;
  /** PEM of the authority of the server; undefined: plain HTTP. */
  readonly serverCaFile: string | undefined;
  /** URLs that the owner of the agent chose. */
  readonly probeUrls: readonly ProbeUrl[];
  /** Addresses that may be requested although they are refused by default. */
  readonly allowedTargets: readonly Cidr[];
  readonly names: NameLookup;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Requests the URLs of `-probeurls`, the URLs that ConnectivityChecks assign, and the server's own URL. */
export class UrlProbes {
  readonly #o: UrlProbesOptions;
  /** The refused URLs of the last log line. */
  #logged = '';

  constructor(o: UrlProbesOptions) {
    this.#o = o;
  }

  /**
   * Requests all URLs at the same time. Never rejects.
   *
   * | URL | addresses that `targetRule` refuses |
   * |---|---|
   * | of `--probeurls`, or of the server | are requested; a redirect to them is not followed |
   * | assigned | are not requested |
   *
   * @param assigned URLs of ConnectivityChecks
   * @returns the results, and the URLs that were not requested
   */
  async probe(
    assigned: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<{ results: ProbeResult[]; refused: RefusedUrl[] }> {
    const { server, probeUrls, clock, serverCaFile, allowedTargets, names } = this.#o;
    const ping = `${serverCaFile === undefined ? 'http' : 'https'}://${server.text}${PING_PATH}`;
    const trust = await trustOf(serverCaFile);
    const o = { clock, timeoutMs, signal, lookup: names.fresh(), rule: targetRule(allowedTargets, ownAddresses()) };
    const own = new Set(probeUrls.map(({ text }) => text));
    const probes = await Promise.all([
      ...distinct([...probeUrls, ...assigned.map(probeUrlOf)]).map(({ text, url }) =>
        probeHttp(text, url, { ...o, isTrusted: own.has(text) }),
      ),
      probeHttp(ping, new URL(ping), { ...o, trust, isTrusted: true }),
    ]);
    const refused = probes.flatMap((probe) => ('refused' in probe ? [probe.refused] : []));
    this.#log(refused);
    return { results: probes.flatMap(resultOf), refused };
  }

  /** Logs the refused URLs, but not again until they change. */
  #log(refused: readonly RefusedUrl[]): void {
    const text = JSON.stringify(refused);
    if (text === this.#logged) return;
    this.#logged = text;
    if (refused.length > 0) {
      this.#o.logger.warn({ refused }, 'URLs are not requested: --allow-target-cidr does not allow their addresses');
    }
  }
}

function resultOf(probe: UrlProbe): ProbeResult[] {
  return 'result' in probe ? [probe.result] : [];
}

/** Returns the addresses of this network namespace, which belongs to the node or to the pod. They may change at any time. */
export function ownAddresses(interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces()): string[] {
  return Object.entries(interfaces).flatMap(([name, addresses = []]) =>
    name === IPVS_INTERFACE ? [] : addresses.map(({ address }) => address),
  );
}

/** Reads the CA of the server. If the file cannot be read, no server is trusted, and the report logs the reason. */
async function trustOf(caFile: string | undefined): Promise<Trust | undefined> {
  return caFile === undefined ? undefined : { ca: await readTextFile(caFile).catch(() => [] as []) };
}

/** Results have the text as their key. */
function distinct(urls: readonly (ProbeUrl | undefined)[]): ProbeUrl[] {
  return [...new Map(urls.flatMap((each) => (each === undefined ? [] : [[each.text, each] as const]))).values()];
}

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
type UrlProbe = { readonly result: ProbeResult } | { readonly refused: RefusedUrl };

/**
 * Requests a URL on a new connection and measures each part. Follows redirects, and returns the times of the last request.
 * A redirect to another scheme, or with a user or a password, is not followed: it is the result. Never rejects: a failed
 * request is also a result.
 *
 * @param text the URL as reports and metrics show it
 */
export async function probeHttp(text: string, url: URL, o: ProbeOptions): Promise<UrlProbe> {
  const signal = deadline(o.clock, o.timeoutMs, o.signal);
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
