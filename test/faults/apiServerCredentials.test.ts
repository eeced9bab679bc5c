import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { CONNECTIVITY_CHECKS } from '../../src/api/connectivitycheck/connectivityCheck.ts';
import { TRAFFIC_STACKS } from '../../src/api/trafficstack/trafficStack.ts';
import { connectivityCheckCrd, installCrd, trafficStackCrd } from '../harness/customResource.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { audited } from '../harness/audit.ts';
import { createCredentialFiles, isServedBy, replaceServerCertificate, type CredentialFiles } from './authorities.ts';
import { measured, seconds, sleep, until } from '../harness/measured.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { socketsTo } from '../harness/sockets.ts';
import { createTokenFile } from './tokenFile.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** Token, client certificate and authority replaced on disk, under the operator's process. */
const KEY = unfitKey('web');
const WAIT = { timeout: 90_000, interval: 200 };
/**
 * A call looks at the files itself, or shares a look of 50 ms before, and is on its way then: what a busy machine takes
 * for that. Without any look of its own it would be up to 10 s.
 */
const ON_ITS_WAY_MS = 1_000;
/** A pass every second has calls to make. The rest is for a busy machine, and less than the 10 s between looks without calls. */
const NEXT_CALLS_MS = 8_000;
/** The API server remembers for 10 s that a token was good; a revoked one is refused after that. */
const REMEMBERED_MS = 10_000;

let f: Fixture;
let files: CredentialFiles;
beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.log(f.operator().log().slice(-4_000)));
});
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  // As an installation has it: each look for a CRD that is missing would be a call that fails.
  await installCrd(f.client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
  await installCrd(f.client, trafficStackCrd(), TRAFFIC_STACKS);
  f.exporter.setPercent('n2', 60);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
});
afterAll(async () => {
  await f.stop();
});

const sockets = (): Set<string> => socketsTo(Number(new URL(f.controlPlane.url).port), f.operator().pid);
const calls = (user: string) => audited(f.controlPlane).filter((request) => request.user === user);

/** When the last call of a user arrived, in milliseconds after a moment; below 0: before it. */
const lastCallAfter = (user: string, moment: number): number => Math.max(...calls(user).map(({ at }) => at)) - moment;

/** Reconciles that failed, and answers that refused or never came. A watch that was cut by a new connection is none. */
async function failures(): Promise<number> {
  const metrics = await metricsOf(f.operator());
  const codes = ['401', '403', '500', '503', 'deadline', 'connection', 'refused'];
  const answers = codes.map((code) => metrics.sum('api_requests_total', { code }));
  return metrics.sum('reconciles_total', { result: 'error' }) + answers.reduce((sum, count) => sum + count, 0);
}

/** Starts the operator, and waits until it does its work. */
async function startWith(kubeconfig: string): Promise<void> {
  await f.startOperator([], { kubeconfig });
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual({ n1: 'false', n2: 'true' }), WAIT);
}

describe('without a failed pass', { timeout: 300_000 }, () => {
  it('a token that is replaced is used by the next calls, so that the old one may end', async () => {
    const file = await createTokenFile(f.controlPlane, 'old-token');
    await startWith(file.kubeconfig);
    const before = await failures();
    const user = await file.become('new-token');
    const replaced = Date.now();
    const took = await until('calls come with the new token', () => calls(user).some(({ verb }) => verb === 'patch'));
    measured(`a token replaced on disk: calls with the new one after ${seconds(took)}`);
    await file.revoke('old-token');
    const refused = Date.now() + REMEMBERED_MS + 2_000;
    await until('calls go on while the old token is refused', () => calls(user).some(({ at }) => at > refused));
    const last = lastCallAfter('system:serviceaccount:default:old-token', replaced);
    measured(`a token replaced on disk: the last call with the old one arrived after ${last} ms`);
    expect(last).toBeLessThan(ON_ITS_WAY_MS);
    expect(await failures()).toBe(before);
    expect(audited(f.controlPlane).filter(({ at, code }) => at > replaced && code >= 400)).toEqual([]);
    await f.stopOperator();
  });

  it('a client certificate that is replaced is used by the next calls', async () => {
    files = await createCredentialFiles(f.controlPlane, 'before');
    await startWith(files.kubeconfig);
    const before = await failures();
    await files.become('after');
    const replaced = Date.now();
    const took = await until('calls come from the new user', () => calls('after').some(({ verb }) => verb === 'patch'));
    measured(`a client certificate replaced on disk: calls with the new one after ${seconds(took)}`);
    await sleep(5_000);
    const last = lastCallAfter('before', replaced);
    measured(`a client certificate replaced on disk: the last call with the old one arrived after ${last} ms`);
    expect(last).toBeLessThan(ON_ITS_WAY_MS);
    expect(await failures()).toBe(before);
    expect(audited(f.controlPlane).filter(({ at, code }) => at > replaced && code >= 400)).toEqual([]);
  });

  it('an authority that is replaced, first together with the old one, then alone, is trusted', async () => {
    const before = await failures();
    const old = await readFile(join(f.controlPlane.directory, 'ca.crt'), 'utf8');
    const next = await replaceServerCertificate(f.controlPlane);
    await files.trust(old, next);
    const isReplaced = async (): Promise<boolean> =>
      (await isServedBy(f.controlPlane, next)) && !(await isServedBy(f.controlPlane, old));
    const shown = await until('the API server shows its new certificate', isReplaced, { timeout: 120_000 });
    measured(`the API server shows a replaced certificate after ${seconds(shown)}`);
    const [connections, time] = [sockets(), (await f.watch('web')).status?.nodes?.n1?.time ?? 0];
    await files.trust(next);
    // Calls open a new connection while only the new authority vouches for the server; watches go on where
    // they are until their end.
    const took = await until('calls have a new connection', () => {
      const now = [...sockets()];
      return now.length >= 2 && now.some((socket) => !connections.has(socket));
    });
    await until('passes go on', async () => ((await f.watch('web')).status?.nodes?.n1?.time ?? 0) > time + 20);
    measured(`with the new authority alone on disk, calls have a new connection ${seconds(took)} later`);
    expect(took).toBeLessThan(NEXT_CALLS_MS);
    expect(await failures()).toBe(before);
    expect(await f.labels(KEY)).toEqual({ n1: 'false', n2: 'true' });
  });
});
