import type { LookupAddress } from 'node:dns';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../runtime/process/clock.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { NameLookup } from '../../runtime/process/nameLookup.ts';
import { startLocalServer, type LocalServer } from '../../runtime/testing/localServer.ts';
import { ReportSender, type SentReport } from './reportSender.ts';

const HOST = 'netchecker-service.test';
const REPORT = { podname: 'a' } as SentReport;
const signal = new AbortController().signal;

let server: LocalServer;
let sender: ReportSender;
let isDnsSilent: boolean;

beforeEach(async () => {
  isDnsSilent = false;
  server = await startLocalServer((_, reply) => reply.json(200, {}));
  const answer: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];
  const names = new NameLookup(systemClock, () =>
    isDnsSilent ? new Promise(() => undefined) : Promise.resolve(answer),
  );
  const port = Number(new URL(server.url).port);
  sender = new ReportSender({
    server: { host: HOST, port, text: `${HOST}:${port}` },
    ...{ podName: 'a', serverCaFile: undefined, tokenFile: undefined, names, logger: createLogger('silent') },
  });
});
afterEach(async () => {
  sender.close();
  await server.close();
});

const isSent = async (): Promise<boolean> => (await sender.send(REPORT, 4_000, signal)).ok;

it('reaches the server while the DNS is silent, on the kept connection and on a new one', async () => {
  expect(await isSent()).toBe(true);
  isDnsSilent = true;
  expect(await isSent()).toBe(true);
  expect(server.connections).toBe(1);
  server.cut();
  // The cut may reach the client during the request, which fails then.
  if (!(await isSent())) expect(await isSent()).toBe(true);
  expect(server.connections).toBe(2);
});

it('does not wait for ever for a name that it never knew', async () => {
  isDnsSilent = true;
  expect(await isSent()).toBe(false);
});
