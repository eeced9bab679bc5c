import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../runtime/process/clock.ts';
import { NameLookup } from '../../runtime/process/nameLookup.ts';
import { startLocalServer, type LocalServer } from '../../runtime/testing/localServer.ts';
import { ReportSender, type SentReport } from './reportSender.ts';

const REPORT = { podname: 'a' } as SentReport;

describe('ReportSender', () => {
  let directory: string;
  let tokenFile: string;
  let server: LocalServer;
  let sender: ReportSender;
  /** Tokens that the server knows, and whether it can have others verified. */
  let known: string[];
  let canVerify: boolean;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'traffic-sender-'));
    tokenFile = join(directory, 'token');
    [known, canVerify] = [[], true];
    server = await startLocalServer(({ headers }, reply) => {
      const token = String(headers.authorization).replace('Bearer ', '');
      if (canVerify) known.push(token);
      reply.json(known.includes(token) ? 200 : 503, {});
    });
    const { port } = new URL(server.url);
    const address = { host: '127.0.0.1', port: Number(port), text: `127.0.0.1:${port}` };
    const logger = pino({ level: 'silent' });
    const names = new NameLookup(systemClock);
    sender = new ReportSender({ server: address, podName: 'a', serverCaFile: undefined, tokenFile, names, logger });
  });
  afterEach(async () => {
    sender.close();
    await server.close();
    rmSync(directory, { recursive: true });
  });

  async function sendWith(token: string): Promise<{ ok: boolean; tokens: unknown[] }> {
    writeFileSync(tokenFile, `${token}\n`);
    const before = server.requests.length;
    const { ok } = await sender.send(REPORT, 10_000, new AbortController().signal);
    return { ok, tokens: server.requests.slice(before).map(({ headers }) => headers.authorization) };
  }

  it('reads the token before each report, and keeps its connection', async () => {
    expect(await sendWith('one')).toEqual({ ok: true, tokens: ['Bearer one'] });
    expect(await sendWith('two')).toEqual({ ok: true, tokens: ['Bearer two'] });
    expect(server.connections).toBe(1);
  });

  it('closes its connection before the server does, which tells when', async () => {
    server.handler = (_, reply) => reply.json(200, {}, { 'keep-alive': 'timeout=2' });
    await sendWith('one');
    expect(server.open).toBe(1);
    const from = performance.now();
    await vi.waitFor(() => expect(server.open).toBe(0), { timeout: 4_000 });
    expect(performance.now() - from).toBeGreaterThan(500);
    expect(await sendWith('two')).toMatchObject({ ok: true });
  });

  it('sends the token before if the server cannot have the new one verified, until it can', async () => {
    await sendWith('one');
    canVerify = false;
    expect(await sendWith('two')).toEqual({ ok: true, tokens: ['Bearer two', 'Bearer one'] });
    expect(await sendWith('two')).toEqual({ ok: true, tokens: ['Bearer two', 'Bearer one'] });
    canVerify = true;
    expect(await sendWith('two')).toEqual({ ok: true, tokens: ['Bearer two'] });
  });

  it('sends no token twice', async () => {
    canVerify = false;
    expect(await sendWith('one')).toEqual({ ok: false, tokens: ['Bearer one'] });
  });
});
