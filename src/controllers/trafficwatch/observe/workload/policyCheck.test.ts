import { beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../../runtime/client/client.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import { FakeClock } from '../../../../runtime/process/clock.ts';
import { PolicyCheck } from './policyCheck.ts';

const policy = (name: string, kind = 'PodPlacement', group = 'traffic.example.com') => ({
  metadata: { name },
  spec: { paramKind: { apiVersion: `${group}/v1alpha1`, kind } },
});
const binding = (policyName: string) => ({ metadata: { name: 'b' }, spec: { policyName } });
const refused = (status: number, reason: string) => new ApiError({ status, reason, method: 'GET', path: '/x' });

let clock: FakeClock;
let found: { policies: object[]; bindings: object[] } | Error;
let lists: number;
let check: PolicyCheck;

beforeEach(() => {
  clock = new FakeClock(0);
  found = { policies: [policy('ours')], bindings: [binding('ours')] };
  lists = 0;
  const list = ({ kind }: { kind: string }) => {
    lists += 1;
    if (found instanceof Error) return Promise.reject(found);
    return Promise.resolve(kind.endsWith('Binding') ? found.bindings : found.policies);
  };
  check = new PolicyCheck({ client: { list } as unknown as Pick<Client, 'list'>, clock });
});

describe('PolicyCheck', () => {
  it.each<[string, typeof found, string]>([
    ['a policy with a binding', { policies: [policy('ours')], bindings: [binding('ours')] }, 'PolicyInstalled'],
    ['a policy without a binding', { policies: [policy('ours')], bindings: [binding('other')] }, 'PolicyMissing'],
    [
      'a policy of another parameter kind',
      { policies: [policy('x', 'Limits'), policy('x', 'PodPlacement', 'example.org')], bindings: [binding('x')] },
      'PolicyMissing',
    ],
    ['no policy', { policies: [], bindings: [] }, 'PolicyMissing'],
    ['an API server without the kind', refused(404, 'NotFound'), 'PolicyNotServed'],
    ['a missing right', refused(403, 'Forbidden'), 'PolicyUnreadable'],
  ])('finds %s', async (_what, there, reason) => {
    found = there;
    expect(await check.state()).toMatchObject({ reason });
  });

  it.each<[string, object[], true | undefined]>([
    ['an older policy, which reads TrafficWatches', [policy('ours', 'TrafficWatch')], true],
    ['the policy of this version', [policy('ours')], undefined],
    ['both', [policy('ours', 'TrafficWatch'), policy('ours')], undefined],
  ])('says whether it is outdated: %s', async (_what, policies, isOutdated) => {
    found = { policies, bindings: [binding('ours')] };
    const state = await check.state();
    expect([state.reason, state.isOutdated]).toEqual(['PolicyInstalled', isOutdated]);
  });

  it('asks once a minute while the policy is installed, and every 5 s while it is not', async () => {
    await Promise.all([check.state(), check.state()]);
    await clock.advance(59_000);
    await check.state();
    expect(lists).toBe(2);
    found = { policies: [], bindings: [] };
    await clock.advance(2_000);
    expect(await check.state()).toMatchObject({ reason: 'PolicyMissing' });
    found = { policies: [policy('ours')], bindings: [binding('ours')] };
    await clock.advance(6_000);
    expect(await check.state()).toMatchObject({ reason: 'PolicyInstalled' });
  });
});
