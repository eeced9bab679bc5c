import { Agent, request } from 'node:http';
import type { Assignment } from '../../../src/connectivity/protocol/measurement.ts';
import { sleep } from '../../harness/measured.ts';
import { reportBody, type SimulatedAgent } from './reportBody.ts';

interface FleetOptions {
  readonly port: number;
  readonly agents: readonly SimulatedAgent[];
  readonly intervalSeconds: number;
}

interface Member {
  readonly agent: SimulatedAgent;
  /** Each agent keeps its own connection. */
  readonly connection: Agent;
  assignment?: Assignment;
  reports: number;
}

const TIMEOUT_MS = 30_000;

/**
 * Real HTTP clients that report as agents do: each on its own connection, all spread evenly over the interval, so that
 * with N agents one report begins every interval / N.
 */
export class Fleet {
  readonly #o: FleetOptions;
  readonly #members: readonly Member[];
  #latencies: number[] = [];
  #refused = 0;
  #isStopped = false;
  #running: Promise<void> | undefined;

  constructor(options: FleetOptions) {
    this.#o = options;
    this.#members = options.agents.map((agent) => ({
      agent,
      connection: new Agent({ keepAlive: true, maxSockets: 1 }),
      reports: 0,
    }));
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Times from the begin of a request to the end of its answer since the last call, ms, and how many were refused. */
  take(): { latencies: number[]; refused: number } {
    const taken = { latencies: this.#latencies, refused: this.#refused };
    this.#latencies = [];
    this.#refused = 0;
    return taken;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    for (const { connection } of this.#members) connection.destroy();
  }

  async #run(): Promise<void> {
    const stepMs = (this.#o.intervalSeconds * 1_000) / this.#members.length;
    const begin = performance.now();
    const underWay = new Set<Promise<void>>();
    for (let n = 0; !this.#isStopped; n += 1) {
      const aheadMs = begin + n * stepMs - performance.now();
      if (aheadMs > 1) await sleep(aheadMs);
      const report = this.#report(this.#members[n % this.#members.length]!).finally(() => underWay.delete(report));
      underWay.add(report);
    }
    await Promise.all(underWay);
  }

  async #report(member: Member): Promise<void> {
    const { agent, assignment } = member;
    member.reports += 1;
    const body = reportBody(agent, this.#o.intervalSeconds, member.reports, assignment);
    const begin = performance.now();
    const { status, text } = await this.#post(member, body).catch(() => ({ status: 0, text: '' }));
    if (status === 200) this.#latencies.push(performance.now() - begin);
    else this.#refused += 1;
    if (status === 200 && text !== '') member.assignment = JSON.parse(text) as Assignment;
  }

  #post({ agent, connection }: Member, body: string): Promise<{ status: number; text: string }> {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: 'application/json',
    };
    const where = { host: '127.0.0.1', port: this.#o.port, path: `/api/v1/agents/${agent.pod}` };
    return new Promise((resolve, reject) => {
      const sent = request(
        { ...where, method: 'POST', headers, agent: connection, signal: AbortSignal.timeout(TIMEOUT_MS) },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
          response.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }
}
