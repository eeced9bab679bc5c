import { describe, expect, it, vi } from 'vitest';
import type { AgentState } from '../reports/reports.ts';
import { ReportGate, type ReportGateOptions } from './reportGate.ts';
import type { ReviewResult } from './reviews.ts';

const VERIFIED: ReviewResult = {
  identity: { namespace: 'ns', serviceAccount: 'sa', pod: 'a', podUid: 'u', node: 'n1' },
};
const CLAIMS = {
  aud: ['aud'],
  sub: 'system:serviceaccount:ns:sa',
  'kubernetes.io': {
    namespace: 'ns',
    serviceaccount: { name: 'sa' },
    pod: { name: 'a', uid: 'u' },
    node: { name: 'n1' },
  },
};
const SIGNATURE = 'c2VjcmV0';
const bearer = (claims: object): string =>
  `Bearer e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${SIGNATURE}`;
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
    rate: { allows: () => true },
    current: () => undefined,
    ...over,
  });
}

const admit = (over: Partial<ReportGateOptions>, authorization: string | undefined) =>
  gate(over).admit({ authorization, source: '192.0.2.1' }, 'a');

describe('ReportGate', () => {
  const BEARER = bearer(CLAIMS);
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
    ['another scheme', 401, invalid, `Basic ${SIGNATURE}`, { 'www-authenticate': 'Bearer' }],
    ['a bad token', 401, invalid, BEARER, { 'www-authenticate': 'Bearer' }],
    ['a bad token, though none is needed', 401, { ...invalid, allowAnonymous: true }, BEARER, {}],
    ['no token in place of one', 401, { allowAnonymous: true, current: () => state(false) }, undefined, {}],
    ['no API server', 503, { verify: () => Promise.resolve('unavailable' as const) }, BEARER, { 'retry-after': '5' }],
    ['another pod', 403, { podOf: () => undefined }, BEARER, {}],
    ['too many reports', 429, { rate: { allows: () => false } }, BEARER, { 'retry-after': '1' }],
  ])('refuses %s with %i, and does not repeat the token', async (_, status, over, authorization, headers) => {
    const answer = await admit(over, authorization);
    expect(answer).toMatchObject({ refused: { status, ...(Object.keys(headers).length > 0 && { headers }) } });
    expect(JSON.stringify(answer)).not.toContain(SIGNATURE);
  });

  it.each([
    ['is none of a ServiceAccount', { aud: ['aud'] }, 401],
    ['is bound to no pod', { ...CLAIMS, 'kubernetes.io': { ...CLAIMS['kubernetes.io'], pod: undefined } }, 403],
    [
      'is that of another pod',
      { ...CLAIMS, 'kubernetes.io': { ...CLAIMS['kubernetes.io'], pod: { name: 'b', uid: 'u' } } },
      403,
    ],
    [
      'is that of an earlier pod',
      { ...CLAIMS, 'kubernetes.io': { ...CLAIMS['kubernetes.io'], pod: { name: 'a', uid: 'x' } } },
      403,
    ],
  ])('a token that says that it %s costs no review', async (_, claims, status) => {
    const verify = vi.fn(() => Promise.resolve(VERIFIED));
    expect(await admit({ verify }, bearer(claims))).toMatchObject({ refused: { status } });
    expect(verify).not.toHaveBeenCalled();
    await admit({ verify }, BEARER);
    expect(verify).toHaveBeenCalledTimes(1);
  });

  it('a token that claims what is not true is judged by its review', async () => {
    const identity = { ...(VERIFIED as { identity: object }).identity, pod: 'b' } as never;
    expect(await admit({ verify: () => Promise.resolve({ identity }) }, BEARER)).toMatchObject({
      refused: { status: 403 },
    });
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
