import { Agent as HttpAgent, request } from 'node:http';
import type { ProbeResult } from '../../api/agent/report.ts';
import type { HostAndPort, ProbeUrl } from '../../options/connectivityValues.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { collectReport, type AgentIdentity, type SentReport } from './collect.ts';
import { probeHttp } from './httpProbe.ts';
import { firstDelayMs, nextDelayMs, retryDelayMs } from './spread.ts';

export interface AgentOptions {
  readonly identity: Omit<AgentIdentity, 'serverHost'>;
  readonly server: HostAndPort;
  readonly probeUrls: readonly ProbeUrl[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Probes and reports once each interval, until `signal` is aborted. A report that does not get through is followed by
 * a new one, soon at first.
 */
export async function runAgent(o: AgentOptions, signal: AbortSignal): Promise<void> {
  const sender = new ReportSender(o.server, o.identity.podName, o.logger);
  const intervalMs = o.identity.intervalSeconds * 1_000;
  try {
    await o.clock.sleep(firstDelayMs(o.identity.podName, intervalMs), signal);
    for (let failures = 0; !signal.aborted;) {
      const probes = await probeAll(o, intervalMs - 1_000, signal);
      const identity = { ...o.identity, serverHost: o.server.host };
      const isSent = await sender.send(await collectReport(identity, probes, o.clock), intervalMs - 1_000, signal);
      failures = isSent ? 0 : failures + 1;
      const next = nextDelayMs(o.identity.podName, intervalMs, o.clock.now());
      await o.clock.sleep(isSent ? next : retryDelayMs(o.identity.podName, failures, next), signal);
    }
  } finally {
    sender.close();
  }
}

/** The user's URLs, and that of the server, at the same time. */
function probeAll(o: AgentOptions, timeoutMs: number, signal: AbortSignal): Promise<ProbeResult[]> {
  const ping = `http://${o.server.text}/api/v1/ping`;
  const urls = [...o.probeUrls, { text: ping, url: new URL(ping) }];
  return Promise.all(urls.map(({ text, url }) => probeHttp(text, url, { clock: o.clock, timeoutMs, signal })));
}

/** Sends reports on one connection, which it keeps. */
class ReportSender {
  readonly #server: HostAndPort;
  readonly #path: string;
  readonly #logger: Logger;
  readonly #agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });

  constructor(server: HostAndPort, podName: string, logger: Logger) {
    this.#server = server;
    this.#path = `/api/v1/agents/${encodeURIComponent(podName)}`;
    this.#logger = logger;
  }

  /** Logs a failure. Never rejects. @returns whether the server accepted the report */
  async send(report: SentReport, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    try {
      const { status, text } = await this.#post(JSON.stringify(report), timeoutMs, signal);
      if (status === 200) this.#logger.debug({ podname: report.podname }, 'reported');
      else this.#logger.warn({ status, answer: text }, 'the server did not accept the report');
      return status === 200;
    } catch (error) {
      if (!signal.aborted) this.#logger.warn({ err: error, server: this.#server.text }, 'report not sent');
      return false;
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #post(body: string, timeoutMs: number, stop: AbortSignal): Promise<{ status: number; text: string }> {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
    const { host, port } = this.#server;
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const options = { host, port, path: this.#path, method: 'POST', headers, agent: this.#agent, signal };
    return new Promise((resolve, reject) => {
      const sent = request(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text = `${text}${chunk}`.slice(0, 500)));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text: text.trim() }));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }
}
