import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { ProbeError, TargetResult } from '../../protocol/measurement.ts';
import { systemClock } from '../../../runtime/process/clock.ts';
import { createAuthority } from '../../../runtime/testing/certificates.ts';
import { startLocalServer, type LocalServer } from '../../../runtime/testing/localServer.ts';
import { apiServerOf, Targets } from './targets.ts';

const [own, other] = [createAuthority('own'), createAuthority('other')];
const directory = mkdtempSync(join(tmpdir(), 'targets-'));
const fileOf = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
const CA = fileOf('own.crt', own.cert);
const OTHER_CA = fileOf('other.crt', other.cert);
const ONLY_API_SERVER = { dns: false, apiServer: true, mtu: false };

let server: LocalServer;
let address: string;

beforeEach(async () => {
  server = await startLocalServer((_, reply) => reply.json(200, {}), { tls: own.issue('apiserver'), http1Only: true });
  address = new URL(server.url).host;
});
afterEach(() => server.close());
afterAll(() => rmSync(directory, { recursive: true }));

interface Given {
  readonly apiCaFile?: string;
  readonly apiServer?: string | undefined;
  readonly plane?: Plane;
  readonly timeoutMs?: number;
}

function probe({ apiCaFile, plane = 'Pod', timeoutMs = 20_000, ...rest }: Given = {}, probes = ONLY_API_SERVER) {
  const apiServer = 'apiServer' in rest ? rest.apiServer : address;
  const o = { plane, apiServer, apiCaFile, clock: systemClock, logger: pino({ level: 'silent' }) };
  return new Targets(o).probe(probes, timeoutMs, new AbortController().signal);
}

const works = (): TargetResult => ({ target: 'APIServer', address, ok: true, ms: expect.any(Number) as number });
const fails = (error: ProbeError): TargetResult => ({ target: 'APIServer', address, ok: false, error });

describe('the Service of the API server', () => {
  it('is named by the variables that the kubelet gives every pod', () => {
    const env = (host: string) => ({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: '443' });
    expect(apiServerOf(env('198.18.64.1'))).toBe('198.18.64.1:443');
    expect(apiServerOf(env('fd00::1'))).toBe('[fd00::1]:443');
    expect(apiServerOf({})).toBeUndefined();
  });

  it('is asked over TLS, without credentials', async () => {
    expect(await probe({ apiCaFile: CA })).toEqual([works()]);
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([['/livez', undefined]]);
  });

  it.each([401, 403, 500])('works also if it answers with the status %i, since the network works', async (status) => {
    server.handler = (_, reply) => reply.json(status, {});
    expect(await probe({ apiCaFile: CA })).toEqual([works()]);
  });

  it('does not answer if another CA signed its certificate: another server has the address', async () => {
    expect(await probe({ apiCaFile: OTHER_CA })).toEqual([fails('Other')]);
  });

  it('answers with any certificate, if no CA is known', async () => {
    expect(await probe()).toEqual([works()]);
  });

  it('that is silent has not answered in time', async () => {
    server.handler = () => undefined;
    expect(await probe({ apiCaFile: CA, timeoutMs: 300 })).toEqual([fails('Timeout')]);
  });

  it('that does not listen refuses', async () => {
    await server.close();
    expect(await probe({ apiCaFile: CA })).toEqual([fails('Refused')]);
  });

  it.each<[string, Given, typeof ONLY_API_SERVER]>([
    ['outside of a cluster', { apiServer: undefined, apiCaFile: CA }, ONLY_API_SERVER],
    ['if the file of its CA cannot be read', { apiCaFile: join(directory, 'none') }, ONLY_API_SERVER],
    ['if no check asks for it', { apiCaFile: CA }, { ...ONLY_API_SERVER, apiServer: false }],
  ])('has no result %s', async (_why, given, probes) => {
    expect(await probe(given, probes)).toEqual([]);
    expect(server.requests).toEqual([]);
  });
});
