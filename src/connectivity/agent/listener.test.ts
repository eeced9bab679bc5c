import { createSocket } from 'node:dgram';
import { createServer, type AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../runtime/process/clock.ts';
import type { HttpAnswer } from '../../runtime/server/httpServer.ts';
import { exchange } from '../../runtime/testing/rawHttp.ts';
import { AGENT_METRICS } from '../protocol/agentMetrics.ts';
import { listen } from './listener.ts';
import { OwnMetrics } from './agent.ts';
import { probeDatagram } from './udp/datagram.ts';
import { Heard } from './udp/heard.ts';

const AGE = 'traffic_operator_connectivity_agent_report_age_seconds';

let clock: FakeClock;
let heard: Heard;
let own: OwnMetrics;
let page: () => HttpAnswer;
let port: number;
let stop: AbortController;

beforeEach(async () => {
  clock = new FakeClock();
  heard = new Heard();
  own = new OwnMetrics(clock);
  page = () => own.page();
  port = await freePort();
  stop = new AbortController();
  const logger = pino({ level: 'silent' });
  const metrics = (): HttpAnswer => page();
  await listen({ port, nodeName: 'a', heard, metrics, clock, logger }, stop.signal);
});
afterEach(() => stop.abort());

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, () => {
      const { port: free } = server.address() as AddressInfo;
      server.close(() => resolve(free));
    });
  });
}

const ask = (path: string, method = 'GET'): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { connection: 'close' } });

/** The value of a series of the page. */
async function value(name: string): Promise<number> {
  const lines = (await (await ask('/metrics')).text()).split('\n');
  return Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
}

describe('the page of an agent', () => {
  it('has one line for each metric, in the text format that Prometheus demands', async () => {
    const answer = await ask('/metrics');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines.map((line) => line.split(' ')[0])).toEqual(AGENT_METRICS.map(({ name }) => name));
  });

  it('has the CPU time and the memory of the process', async () => {
    const { user, system } = process.cpuUsage();
    expect(await value('process_cpu_seconds_total')).toBeCloseTo((user + system) / 1e6, 0);
    const rss = process.memoryUsage.rss();
    expect((await value('process_resident_memory_bytes')) / rss).toBeCloseTo(1, 0);
  });

  it('has the age of the last accepted report, and the age of the agent before the first', async () => {
    await clock.advance(7_000);
    expect(await value(AGE)).toBe(7);
    own.reportAccepted();
    expect(await value(AGE)).toBe(0);
    await clock.advance(1_500);
    expect(await value(AGE)).toBe(1.5);
  });
});

/** Sends a datagram of 65,000 bytes from an address as often, one after the other. Resolves when each was echoed. */
async function echoed(address: string, times: number): Promise<void> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind({ address }, resolve));
  for (let n = 0; n < times; n += 1) {
    const answer = new Promise((resolve) => socket.once('message', resolve));
    socket.send(probeDatagram('n', Buffer.alloc(8), 65_000), port, '127.0.0.1');
    await answer;
  }
  socket.close();
}

describe('the listener', () => {
  it('echoes the peers of the assignment while other addresses use up what is for them', async () => {
    heard.expect([{ node: 'p', addresses: ['127.0.0.2'], port: 1 }]);
    // 63 times 66,000 bytes: a further one is above 4 MiB.
    for (const n of [3, 4, 5, 6]) await echoed(`127.0.0.${n}`, 15);
    await echoed('127.0.0.7', 3);
    await echoed('127.0.0.2', 15);
  });

  it.each([
    ['/ping', 'GET', 200],
    ['/metrics', 'HEAD', 200],
    ['/metrics', 'POST', 405],
    ['/ping', 'DELETE', 405],
    ['/metrics/', 'GET', 404],
    ['/', 'GET', 404],
  ])('answers %s %s with %i', async (path, method, status) => {
    expect((await ask(path, method)).status).toBe(status);
  });

  it('answers peers after a page that failed, and after bytes that are no request', async () => {
    page = () => {
      throw new Error('no /proc');
    };
    expect((await ask('/metrics')).status).toBe(500);
    await exchange(port, 'GET /metrics HTTP/9\r\n\0\r\n\r\n');
    expect((await ask('/ping')).status).toBe(200);
  });
});
