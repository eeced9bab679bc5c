import type { Plane } from '../../api/connectivitycheck/terms.ts';
import type { Cidr, HostAndPort, ProbeUrl } from '../../options/connectivityValues.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { NameLookup } from '../../runtime/process/nameLookup.ts';
import type { HttpAnswer } from '../../runtime/server/httpServer.ts';
import { renderAgentMetrics } from '../protocol/agentMetrics.ts';
import type { Assignment, Measurement, PeerResult, TargetResult } from '../protocol/measurement.ts';
import { UrlProbes } from './http/urlProbes.ts';
import { listen } from './listener.ts';
import { MemoryRelease } from './memoryRelease.ts';
import { probePeer, type PeerAddress } from './peers/peerProbe.ts';
import { CONCURRENCY, probeSchedule } from './peers/schedule.ts';
import { addressesOf, collectReport, NO_ASSIGNMENT, ReportSender, type AgentIdentity } from './reportSender.ts';
import { EarlyRuns, firstDelayMs, nextDelayMs, retryDelayMs } from './spread.ts';
import { Targets } from './targets/targets.ts';
import { Heard } from './udp/heard.ts';

/** How long the agent looks up the server's name for the field `nslookup` of a report, ms. */
const MOST_LOOKUP_MS = 3_000;
/** So memory is released after each run with an interval of 30 s, whose pauses differ a little. Costs 0.05 % of a core. */
const RELEASE_EVERY_MS = 25_000;

export interface AgentOptions {
  readonly identity: Omit<AgentIdentity, 'serverHost'>;
  readonly server: HostAndPort;
  readonly probeUrls: readonly ProbeUrl[];
  /** Addresses that assigned URLs and redirects may lead to, although they are refused by default. */
  readonly allowedTargets: readonly Cidr[];
  readonly plane: Plane;
  /** Where this agent and its peers listen. */
  readonly peerPort: number;
  readonly serverCaFile: string | undefined;
  readonly tokenFile: string | undefined;
  readonly apiServer: string | undefined;
  readonly apiCaFile: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Answers peers, and measures and reports once each interval, until `signal` is aborted. If a report does not get through,
 * the agent measures and reports again, soon at first, with the peers of the last assignment.
 *
 * @throws Error if another program has the port for peers
 */
export async function runAgent(o: AgentOptions, signal: AbortSignal): Promise<void> {
  const run = new AgentRun(o);
  const { heard, own } = run;
  const port = o.peerPort;
  await listen({ ...o, port, nodeName: o.identity.nodeName, heard, metrics: () => own.page() }, signal);
  await o.clock.sleep(firstDelayMs(o.identity.podName, o.identity.intervalSeconds * 1_000), signal);
  const memory = new MemoryRelease(o.clock, RELEASE_EVERY_MS);
  try {
    while (!signal.aborted) {
      const pauseMs = await run.once(signal);
      memory.soon();
      await o.clock.sleep(pauseMs, signal);
    }
  } finally {
    memory.close();
    run.close();
  }
}

/** The state that an agent keeps from report to report. */
class AgentRun {
  readonly heard = new Heard();
  readonly own: OwnMetrics;
  readonly #o: AgentOptions;
  readonly #names: NameLookup;
  readonly #sender: ReportSender;
  readonly #urls: UrlProbes;
  readonly #targets: Targets;
  readonly #early = new EarlyRuns();
  #assignment: Assignment = NO_ASSIGNMENT;
  #failures = 0;

  constructor(o: AgentOptions) {
    this.#o = o;
    this.own = new OwnMetrics(o.clock);
    this.#names = new NameLookup(o.clock);
    this.#sender = new ReportSender({ ...o, podName: o.identity.podName, names: this.#names });
    this.#urls = new UrlProbes({ ...o, names: this.#names });
    this.#targets = new Targets(o);
  }

  close(): void {
    this.#sender.close();
  }

  /** Measures and reports. @returns the pause until the next run, ms */
  async once(signal: AbortSignal): Promise<number> {
    const { clock, identity, logger } = this.#o;
    const start = clock.monotonic();
    const intervalSeconds = this.#assignment.intervalSeconds ?? identity.intervalSeconds;
    const next = nextDelayMs(identity.podName, intervalSeconds * 1_000, clock.now());
    // The agent continues after any failed measurement: its peers need its echo, and the server its next report.
    const isSent = await this.#report(intervalSeconds, signal).catch((error: unknown) => {
      logger.error({ err: error }, 'no report: the measurement failed');
      return false;
    });
    this.#failures = isSent ? 0 : this.#failures + 1;
    const leftMs = Math.max(0, start + next - clock.monotonic());
    if (!isSent) return retryDelayMs(identity.podName, this.#failures, leftMs);
    return this.#early.delayMs(identity.podName, this.#assignment, leftMs);
  }

  async #report(intervalSeconds: number, signal: AbortSignal): Promise<boolean> {
    const { identity, clock, server, plane, peerPort: port, logger } = this.#o;
    const intervalMs = intervalSeconds * 1_000;
    const o = { nodeName: identity.nodeName, targets: this.#targets, clock };
    this.#early.measured(this.#assignment);
    const start = clock.monotonic();
    const [urls, measured, addresses] = await Promise.all([
      this.#urls.probe(this.#assignment.urls, intervalMs / 2, signal),
      measure(this.#assignment, intervalMs, o, signal),
      addressesOf(server.host, this.#names, Math.min(intervalMs / 2, MOST_LOOKUP_MS)),
    ]);
    const report = collectReport(
      { ...identity, intervalSeconds, serverHost: server.host },
      addresses,
      urls.results,
      clock,
    );
    const heard = this.heard.take();
    const tookMs = Math.round(clock.monotonic() - start);
    const refused = urls.refused.length > 0 ? { refused: urls.refused } : {};
    const connectivity: Measurement = { plane, port, ...measured, ...refused, heard, tookMs };
    const sent = await this.#sender.send({ ...report, connectivity }, intervalMs / 2, signal);
    if (sent.ok) this.own.reportAccepted();
    else if (!sent.isInvalid) this.heard.restore(heard);
    if (sent.assignment !== undefined) this.#assign(sent.assignment);
    logger.debug({ peers: measured.peers.length, assigned: this.#assignment.peers.length }, 'measured');
    return sent.ok;
  }

  #assign(assignment: Assignment): void {
    this.#assignment = assignment;
    this.heard.expect(assignment.peers);
  }
}

interface MeasureOptions {
  readonly nodeName: string;
  readonly targets: Targets;
  readonly clock: Clock;
}

/** Probes the peers and targets of an assignment, within half of the interval. Never rejects. */
async function measure(
  { peers, probes }: Assignment,
  intervalMs: number,
  o: MeasureOptions,
  signal: AbortSignal,
): Promise<{ peers: PeerResult[]; targets: TargetResult[] }> {
  const addresses = peers.flatMap(({ node, port, addresses: each }) =>
    each.map((address) => ({ node, address, port })),
  );
  const schedule = probeSchedule(intervalMs, addresses.length);
  const probe = (peer: PeerAddress): Promise<PeerResult> =>
    probePeer(peer, { nodeName: o.nodeName, mtu: probes.mtu, schedule, clock: o.clock, signal });
  const [peerResults, targets] = await Promise.all([
    inGroups(addresses, probe),
    o.targets.probe(probes, intervalMs / 2, signal),
  ]);
  return { peers: peerResults, targets };
}

async function inGroups(addresses: readonly PeerAddress[], probe: (peer: PeerAddress) => Promise<PeerResult>) {
  const results: PeerResult[] = [];
  for (let n = 0; n < addresses.length; n += CONCURRENCY) {
    results.push(...(await Promise.all(addresses.slice(n, n + CONCURRENCY).map(probe))));
  }
  return results;
}

/** The version of the text format; without it, Prometheus 3 refuses the page. */
const HEADERS = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };

/** The metrics of this process. A page costs a few system calls, and does not depend on the number of peers. */
export class OwnMetrics {
  readonly #clock: Clock;
  /** Monotonic, so that a jump of the clock of the node does not change the age; ms. */
  #acceptedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#acceptedAt = clock.monotonic();
  }

  /** Sets the age of the last accepted report to 0. Call it when the server has accepted a report. */
  reportAccepted(): void {
    this.#acceptedAt = this.#clock.monotonic();
  }

  /** The page for Prometheus. */
  page(): HttpAnswer {
    const { user, system } = process.cpuUsage();
    const text = renderAgentMetrics({
      cpuSeconds: (user + system) / 1e6,
      residentBytes: process.memoryUsage.rss(),
      reportAgeSeconds: (this.#clock.monotonic() - this.#acceptedAt) / 1_000,
    });
    return { status: 200, text, headers: HEADERS };
  }
}
