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
let webhooks: object[] | Error;
let slices: object[];
let lists: number;
let check: PolicyCheck;

beforeEach(() => {
  clock = new FakeClock(0);
  found = { policies: [policy('ours')], bindings: [binding('ours')] };
  webhooks = [];
  slices = [{ endpoints: [{ conditions: { ready: false } }, { conditions: { ready: true } }] }];
  lists = 0;
  const list = ({ kind }: { kind: string }) => {
    lists += 1;
    if (kind === 'MutatingWebhookConfiguration')
      return webhooks instanceof Error ? Promise.reject(webhooks) : Promise.resolve(webhooks);
    if (kind === 'EndpointSlice') return Promise.resolve(slices);
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
    expect(await check.state('shop')).toMatchObject({ reason });
  });

  it.each<[string, object[], true | undefined]>([
    ['an older policy, which reads TrafficWatches', [policy('ours', 'TrafficWatch')], true],
    ['the policy of this version', [policy('ours')], undefined],
    ['both', [policy('ours', 'TrafficWatch'), policy('ours')], undefined],
  ])('says whether it is outdated: %s', async (_what, policies, isOutdated) => {
    found = { policies, bindings: [binding('ours')] };
    const state = await check.state('shop');
    expect([state.reason, state.isOutdated]).toEqual(['PolicyInstalled', isOutdated]);
  });

  it('asks once a minute while the policy is installed, and every 5 s while it is not', async () => {
    await Promise.all([check.state('shop'), check.state('shop')]);
    await clock.advance(59_000);
    await check.state('shop');
    expect(lists).toBe(2);
    found = { policies: [], bindings: [] };
    await clock.advance(2_000);
    expect(await check.state('shop')).toMatchObject({ reason: 'PolicyMissing' });
    found = { policies: [policy('ours')], bindings: [binding('ours')] };
    await clock.advance(6_000);
    expect(await check.state('shop')).toMatchObject({ reason: 'PolicyInstalled' });
  });
});

describe('PolicyCheck without a policy', () => {
  const service = { namespace: 'system', name: 'hook' };
  const webhook = (over: object = {}, clientConfig: object = {}) => ({
    name: 'pods.placement.traffic.example.com',
    clientConfig: { service, caBundle: 'eA==', ...clientConfig },
    namespaceSelector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['shop'] }] },
    ...over,
  });
  const NONE = { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'DoesNotExist' }] };
  beforeEach(() => {
    found = refused(404, 'NotFound');
    webhooks = [{ webhooks: [{ name: 'other' }] }, { webhooks: [webhook()] }];
  });
  const stateOf = async (namespace = 'shop') => (await check.state(namespace)).reason;

  it('finds the webhook, which gets the pods of the namespace', async () => {
    expect(await stateOf()).toBe('WebhookInstalled');
  });

  it('reports whether it is ready, while it is asked for and the policy is not installed', async () => {
    expect(check.webhookReady()).toBeUndefined();
    await stateOf('bank');
    expect(check.webhookReady()).toBe(true);
    slices = [];
    await clock.advance(6_000);
    await stateOf();
    expect(check.webhookReady()).toBe(false);
    await clock.advance(601_000);
    expect(check.webhookReady()).toBeUndefined();
    found = { policies: [policy('ours')], bindings: [binding('ours')] };
    await stateOf();
    expect(check.webhookReady()).toBeUndefined();
  });

  it('does not look for it where the policy is installed', async () => {
    found = { policies: [policy('ours')], bindings: [binding('ours')] };
    expect([await stateOf(), lists]).toEqual(['PolicyInstalled', 2]);
  });

  it.each<[string, () => void, string, string]>([
    ['has no entry yet', () => (webhooks = [{}]), 'shop', 'PolicyNotServed'],
    [
      'has no certificate',
      () => (webhooks = [{ webhooks: [webhook({}, { caBundle: '' })] }]),
      'shop',
      'WebhookNotReady',
    ],
    ['has no pod', () => (slices = [{ endpoints: null }]), 'shop', 'WebhookNotReady'],
    [
      'has a pod that is not ready',
      () => (slices = [{ endpoints: [{ conditions: { ready: false } }] }]),
      'shop',
      'WebhookNotReady',
    ],
    ['does not get the namespace yet', () => undefined, 'bank', 'PlacementPending'],
    [
      'gets no namespace',
      () => (webhooks = [{ webhooks: [webhook({ namespaceSelector: NONE })] }]),
      'shop',
      'PlacementPending',
    ],
    ['never gets kube-system', () => undefined, 'kube-system', 'WebhookNotReady'],
    ['never gets its own namespace', () => undefined, 'system', 'WebhookNotReady'],
    [
      'is at a URL, of which nothing is known',
      () => {
        webhooks = [{ webhooks: [webhook({}, { service: undefined, url: 'https://x' })] }];
        slices = [];
      },
      'shop',
      'WebhookInstalled',
    ],
  ])('says that the webhook %s', async (_what, set, namespace, reason) => {
    set();
    expect(await stateOf(namespace)).toBe(reason);
  });

  it.each<[string, typeof found, number, string]>([
    ['keeps the answer without the right to list webhooks', refused(404, 'NotFound'), 403, 'PolicyNotServed'],
    ['keeps the answer without the right to list webhooks', { policies: [], bindings: [] }, 403, 'PolicyMissing'],
    ['has no answer if webhooks cannot be read', refused(404, 'NotFound'), 500, 'PolicyUnreadable'],
  ])('%s', async (_what, there, status, reason) => {
    found = there;
    webhooks = refused(status, 'No');
    const state = await check.state('shop');
    expect(state.reason).toBe(reason);
    expect(state.message).toMatch(/webhook is installed cannot be read: GET/);
  });

  it('sees a further namespace within 5 s', async () => {
    expect(await stateOf('bank')).toBe('PlacementPending');
    webhooks = [
      {
        webhooks: [
          webhook({
            namespaceSelector: {
              matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['bank'] }],
            },
          }),
        ],
      },
    ];
    await clock.advance(5_000);
    expect(await stateOf('bank')).toBe('WebhookInstalled');
  });
});
