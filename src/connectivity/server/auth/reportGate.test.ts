import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import type { AgentState } from '../reports/reports.ts';
import { RateLimit, ReportGate, type ReportGateOptions } from './reportGate.ts';
import type { ReviewResult } from './reviews.ts';

const VERIFIED: ReviewResult = {
  identity: { namespace: 'ns', serviceAccount: 'sa', pod: 'a', podUid: 'u', node: 'n1' },
};
const REPORTER = { reporter: { namespace: 'ns', pod: 'a', node: 'n1' } };
const state = (anonymous: boolean): AgentState => ({
  report: { report_interval: 60, nodename: 'n1', podname: 'a' },
  reportCount: 1,
  errorCount: 0,
  anonymous,
});

function gate(over: Partial<ReportGateOptions> = {}): ReportGate {
  return new ReportGate({
    allowAnonymous: false,
    audience: 'aud',
    rules: { serviceAccounts: [] },
    verify: () => Promise.resolve(VERIFIED),
    podOf: () => ({ uid: 'u', node: 'n1' }),
    namespacesOf: () => ['ns'],
    rate: { allows: () => true },
    current: () => undefined,
    ...over,
  });
}

const admit = (over: Partial<ReportGateOptions>, authorization: string | undefined) =>
  gate(over).admit({ authorization, source: '192.0.2.1' }, 'a');

const POD = { namespace: 'ns', pod: { name: 'a', uid: 'u' } };

/** A header with a token of these claims. No signature of it is verified here. */
function bearer(pod: unknown = POD, aud: unknown = ['aud']): string {
  const part = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `Bearer ${part({ alg: 'RS256' })}.${part({ aud, exp: 2_000_000_000, 'kubernetes.io': pod })}.secret`;
}

describe('ReportGate', () => {
  const BEARER = bearer();
  it.each([
    ['a valid token', {}, BEARER, REPORTER],
    ['no token, allowed', { allowAnonymous: true }, undefined, 'anonymous'],
    [
      'no token, after an anonymous report',
      { allowAnonymous: true, current: () => state(true) },
      undefined,
      'anonymous',
    ],
  ])('admits %s', async (_, over, authorization, sender) => {
    expect(await admit(over, authorization)).toMatchObject({ sender });
  });

  const invalid = { verify: () => Promise.resolve('invalid' as const) };
  it.each([
    ['no token', 401, {}, undefined, { 'www-authenticate': 'Bearer' }],
    ['another scheme', 401, invalid, 'Basic secret', { 'www-authenticate': 'Bearer' }],
    ['a bad token', 401, invalid, BEARER, { 'www-authenticate': 'Bearer' }],
    ['a bad token, though none is needed', 401, { ...invalid, allowAnonymous: true }, BEARER, {}],
    ['no token, after a report with one', 401, { allowAnonymous: true, current: () => state(false) }, undefined, {}],
    ['no API server', 503, { verify: () => Promise.resolve('unavailable' as const) }, BEARER, { 'retry-after': '5' }],
    ['another pod', 403, { podOf: () => undefined }, BEARER, {}],
    ['a pod that is not read yet', 503, { podOf: () => 'unread' as const }, BEARER, { 'retry-after': '5' }],
    ['too many tokens', 503, { verify: () => Promise.resolve('busy' as const) }, BEARER, { 'retry-after': '5' }],
    ['the name of two agents', 403, { namespacesOf: () => ['ns', 'other'] }, BEARER, {}],
    ['it without a token', 403, { namespacesOf: () => ['ns', 'other'], allowAnonymous: true }, undefined, {}],
    ['too many reports', 429, { rate: { allows: () => false } }, BEARER, { 'retry-after': '1' }],
  ])('refuses %s with %i, and does not repeat the token', async (_, status, over, authorization, headers) => {
    const answer = await admit(over, authorization);
    expect(answer).toMatchObject({ refused: { status, ...(Object.keys(headers).length > 0 && { headers }) } });
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  it.each([
    ['no bearer token', 'Bearer', 401],
    ['no JWT', 'Bearer abc', 401],
    ['a payload that is no JSON', 'Bearer a.b.c', 401],
    ['another audience', bearer(POD, 'other'), 401],
    ['no pod', bearer({ namespace: 'ns' }), 403],
    ['no claim of Kubernetes', bearer(null), 403],
    ['a pod that is no agent', bearer({ ...POD, pod: { name: 'a', uid: 'other' } }), 403],
  ])('has no token verified that claims %s', async (_, authorization, status) => {
    const verify = vi.fn<ReportGateOptions['verify']>();
    expect(await admit({ verify }, authorization)).toMatchObject({ refused: { status } });
    expect(verify).not.toHaveBeenCalled();
  });

  it('has a token verified for its address and the pod that it claims', async () => {
    const verify = vi.fn<ReportGateOptions['verify']>().mockResolvedValue(VERIFIED);
    await admit({ verify }, BEARER);
    const claim = { expiresAt: 2_000_000_000, source: '192.0.2.1', pod: 'ns/a' };
    expect(verify).toHaveBeenCalledExactlyOnceWith(expect.any(String), claim);
  });

  it('limits the rate by pod, and of unknown senders by address and name', async () => {
    const keys: string[] = [];
    const rate = { allows: (key: string) => keys.push(key) > 0 };
    await admit({ rate }, BEARER);
    await admit({ rate, allowAnonymous: true }, undefined);
    expect(keys).toEqual(['ns/a', '192.0.2.1 a']);
  });

  it('checks an anonymous report again once its body has come', () => {
    const last: AgentState[] = [];
    const open = gate({ allowAnonymous: true, current: () => last[0] });
    const report = { podname: 'a', nodename: 'n1' };
    expect(open.refuses(report, 'anonymous')).toBeUndefined();
    last.push(state(false));
    expect(open.refuses(report, 'anonymous')?.status).toBe(401);
  });

  it('refuses a report about another node', () => {
    const report = { podname: 'a', nodename: 'n2' };
    expect(gate().refuses(report, REPORTER)).toEqual({
      status: 403,
      text: 'nodename is n2: must be n1, the node of the pod a\n',
    });
  });
});

describe('RateLimit', () => {
  it('allows one report per second and key on average, with a little jitter', async () => {
    const clock = new FakeClock();
    const rate = new RateLimit(clock);
    expect([rate.allows('a'), rate.allows('a'), rate.allows('b')]).toEqual([true, false, true]);
    await clock.advance(799);
    expect(rate.allows('a')).toBe(false);
    await clock.advance(1);
    expect(rate.allows('a')).toBe(true);
    let allowed = 0;
    for (let n = 0; n < 100; n++) {
      await clock.advance(100);
      if (rate.allows('a')) allowed++;
    }
    expect(allowed).toBe(10);
  });

  it('keeps at most 50,000 keys, and none that is over', async () => {
    const clock = new FakeClock();
    const rate = new RateLimit(clock);
    for (let n = 0; n < 60_000; n++) rate.allows(String(n));
    expect(rate.size).toBe(50_000);
    await clock.advance(1_000);
    rate.allows('a');
    expect(rate.size).toBe(1);
  });
});
