import { isIP } from 'node:net';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { Assignment, TargetResult } from '../../protocol/measurement.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import { readTextFile } from '../../../runtime/process/textFile.ts';
import { clusterDns } from './dnsMessage.ts';
import { probeDnsTcp, probeDnsUdp } from './dnsProbe.ts';
import { requestOnce, type Trust } from '../http/httpRequest.ts';
import { probeError } from '../probeError.ts';
import { rounded } from '../udp/roundTrips.ts';

const RESOLV_CONF = '/etc/resolv.conf';
/** The default of the kubelet's --healthz-port. It listens on loopback only. */
const KUBELET = '127.0.0.1:10248';
const MOST_MS = 3_000;

export interface TargetsOptions {
  readonly plane: Plane;
  /** Host and port of the Service of the API server; undefined outside of a cluster. */
  readonly apiServer: string | undefined;
  readonly apiCaFile: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The Service of the API server, as the kubelet tells every pod. */
export function apiServerOf(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = env;
  if (host === '' || port === '') return undefined;
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** Probes the services of the cluster. */
export class Targets {
  readonly #o: TargetsOptions;
  /** A kubelet may have another port, or none: its first success shows that the address is right. */
  #isKubeletKnown = false;

  constructor(o: TargetsOptions) {
    this.#o = o;
  }

  /** Probes the services. One that cannot be asked, such as the API server outside of a cluster, has no result. Never rejects. */
  async probe(probes: Assignment['probes'], mostMs: number, signal: AbortSignal): Promise<TargetResult[]> {
    const timeoutMs = Math.min(mostMs, MOST_MS);
    const results = await Promise.all([
      probes.apiServer ? this.#apiServer(timeoutMs, signal) : [],
      probes.dns ? this.#dns(timeoutMs, signal) : [],
      this.#o.plane === 'Host' ? this.#kubelet(timeoutMs, signal) : [],
    ]);
    return results.flat();
  }

  async #dns(timeoutMs: number, signal: AbortSignal): Promise<TargetResult[]> {
    const file = await readTextFile(RESOLV_CONF).catch(() => '');
    const dns = clusterDns(file);
    if (dns === undefined || isIP(dns.server) === 0) return [];
    const o = { timeoutMs, clock: this.#o.clock, signal };
    return Promise.all([probeDnsUdp(dns, o), probeDnsTcp(dns, o)]);
  }

  async #apiServer(timeoutMs: number, signal: AbortSignal): Promise<TargetResult[]> {
    const { apiServer: address } = this.#o;
    const trust = await this.#trust();
    if (address === undefined || trust === undefined) return [];
    const seen = await this.#get(`https://${address}/livez`, timeoutMs, signal, trust);
    return [{ target: 'APIServer', address, ...seen }];
  }

  /**
   * Reads the CA of the API server. Without a CA the server is not verified: the probe sends no credentials, and uses only the
   * fact that there is an answer. Undefined if the file of the CA cannot be read.
   */
  async #trust(): Promise<Trust | undefined> {
    const { apiCaFile, logger } = this.#o;
    if (apiCaFile === undefined) return { ca: [], rejectUnauthorized: false };
    try {
      return { ca: await readTextFile(apiCaFile) };
    } catch (error) {
      logger.warn({ err: error }, 'the API server is not probed: cannot read --api-ca-file');
      return undefined;
    }
  }

  async #kubelet(timeoutMs: number, signal: AbortSignal): Promise<TargetResult[]> {
    const seen = await this.#get(`http://${KUBELET}/healthz`, timeoutMs, signal);
    this.#isKubeletKnown ||= seen.ok;
    return this.#isKubeletKnown ? [{ target: 'Kubelet', address: KUBELET, ...seen }] : [];
  }

  /** Requests a URL. Any status shows that the network works, but a kubelet must answer 200: else it says that it is unhealthy. */
  async #get(url: string, timeoutMs: number, stop: AbortSignal, trust?: Trust) {
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), stop]);
    const { start, end = start, status = 0, error } = await requestOnce(new URL(url), this.#o.clock, signal, { trust });
    if (error !== undefined) return { ok: false, error: probeError(error) };
    const isOk = trust === undefined ? status === 200 : status > 0;
    return isOk ? { ok: true, ms: rounded(end - start) } : { ok: false, error: 'Other' as const };
  }
}
