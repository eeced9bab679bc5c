import { describe, expect, it } from 'vitest';
import type { HostExplanation, TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import { findCondition } from '../../../runtime/controller/conditions.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import { zoneOf } from '../../../weights/zone/recordSets.ts';
import type { BackendView } from '../observe/observation.ts';
import type { Outcome } from './outcome.ts';
import { isInForce, statusOf, undecidedStatus } from './status.ts';

const NOW = '2026-01-01T00:00:00Z';
const NOW_MS = Date.parse(NOW);
const SPEC = { clusterName: 'a', backend: { static: { weight: 40 } } };
const WEIGHT: TrafficWeight = {
  metadata: { name: 'main', generation: 2 },
  spec: SPEC,
  status: { desiredWeight: 75, currentWeight: 75 },
};
const READ: DnsEndpoint = { metadata: { generation: 3 }, status: { observedGeneration: 3 } };
const LATE: DnsEndpoint = { metadata: { generation: 3 }, status: { observedGeneration: 2 } };
const host = (name: string, over: Partial<HostExplanation> = {}): HostExplanation => {
  return { host: name, ingress: `shop/${name}`, weight: 40, reason: 'ClusterWeight', ...over };
};

const WAITS = {
  ...{
    hosts: ['a', 'b'],
    of: 3,
    confirm: '1f0c3d5e',
    namespaces: new Map([['shop', { hosts: 2, confirm: '1f0c3d5e' }]]),
  },
  holdsWeight: true,
};
const OF_ONE = { ...WAITS, holdsWeight: false };
const DENIED = 'Route 53 (hosted zone Z1) answered AccessDenied';
const failure = (key: string) => ({ reason: 'WriteFailed', message: `DNSEndpoint ${key}: no` });

const decided = (over: Partial<Outcome> = {}, weight = WEIGHT) =>
  statusOf(
    weight,
    {
      ...{ spec: SPEC, desiredWeight: 40, step: { weight: 40 }, hosts: [host('a')], ingresses: 1 },
      ...{ endpoints: new Map([['shop/a', READ]]), failures: [], beyond: [] },
      ...over,
    },
    NOW_MS,
  );
const states = (status: ReturnType<typeof decided>): string[] =>
  (status.conditions ?? []).map(({ type, status: is, reason }) => `${type} ${is} ${reason}`);

describe('the weight in force', () => {
  it.each<[string, Partial<Outcome>, number, string]>([
    ['every DNSEndpoint is read', {}, 40, 'Ready True InForce'],
    ['there is none', { endpoints: new Map(), hosts: [], ingresses: 0 }, 40, 'Ready True InForce'],
    ['one is not read', { endpoints: new Map([['shop/a', LATE]]) }, 75, 'Ready False NotObservedYet'],
    [
      'one was never read',
      { endpoints: new Map([['shop/a', { metadata: { generation: 1 } }]]) },
      75,
      'Ready False NotObservedYet',
    ],
    ['one could not be created', { endpoints: new Map([['shop/a', undefined]]) }, 75, 'Ready False NotObservedYet'],
    ['a write failed', { failures: [failure('shop/a')] }, 75, 'Ready False WriteFailed'],
    ['one is unchanged', { stale: ['shop/b'] }, 75, 'Ready False WriteFailed'],
    ['the removal of most waits for a confirmation', { unconfirmed: WAITS }, 75, 'Ready False RemovalNotConfirmed'],
    ['the removal of one namespace waits', { unconfirmed: OF_ONE }, 40, 'Ready True InForce'],
    [
      'the removal of one namespace waits, and a write failed',
      { unconfirmed: OF_ONE, failures: [failure('shop/a')] },
      75,
      'Ready False WriteFailed',
    ],
    ['writes wait for the next round', { left: 1 }, 75, 'Ready False NotAppliedYet'],
    ['writes wait, and one failed', { left: 1, failures: [failure('shop/a')] }, 75, 'Ready False WriteFailed'],
    [
      'none is read, and applied is enough',
      { endpoints: new Map([['shop/a', LATE]]), spec: { ...SPEC, acknowledge: 'Applied' } },
      40,
      'Ready True InForce',
    ],
    [
      'a write failed, and applied is enough',
      { failures: [failure('shop/a')], spec: { ...SPEC, acknowledge: 'Applied' } },
      75,
      'Ready False WriteFailed',
    ],
    [
      'an Ingress is not accepted',
      { hosts: [host('a'), host('b', { reason: 'Conflict', message: 'no' })] },
      40,
      'Ready True InForce',
    ],
  ])('if %s', (_, over, currentWeight, ready) => {
    const status = decided(over);
    expect(status).toMatchObject({ desiredWeight: 40, currentWeight, observedGeneration: 2 });
    expect(states(status)[0]).toBe(ready);
  });

  it('is Ready, and names the conditions about single namespaces', () => {
    const refused = host('b', { ingress: 'tenant/b', reason: 'Conflict', message: 'no' });
    const ready = (over: Partial<Outcome>) => findCondition(decided(over).conditions, 'Ready')?.message;
    expect([{}, { hosts: [host('a'), refused], unconfirmed: OF_ONE }, { beyond: ['tenant'] }].map(ready)).toEqual([
      'The weight 40 is in force.',
      'The weight 40 is in force. Single namespaces have problems: see RemovalsConfirmed and IngressesAccepted.',
      'The weight 40 is in force. Single namespaces have problems: see IngressesAccepted.',
    ]);
  });

  it('is absent until one was in force', () => {
    const fresh = { metadata: WEIGHT.metadata!, spec: SPEC };
    expect(decided({ endpoints: new Map([['shop/a', LATE]]) }, fresh)).not.toHaveProperty('currentWeight');
  });
});

describe('the condition ZonesRead', () => {
  const zoneState = (zones: Outcome['zones']) => findCondition(decided({ zones }).conditions, 'ZonesRead');
  const unread = { id: 'Z2', failure: 'Route 53 (hosted zone Z2) answered AccessDenied' };
  const read = { id: 'Z1', zone: zoneOf('Z1', []) };

  it('is absent without hosted zones, and goes with them', () => {
    expect(zoneState([])).toBeUndefined();
    const before = { ...WEIGHT, status: decided({ zones: [read] }) };
    expect(states(decided({}, before))).not.toContainEqual(expect.stringContaining('ZonesRead'));
  });

  it('tells whether all can be read', () => {
    expect(zoneState([read])).toMatchObject({ status: 'True', reason: 'AllZonesRead' });
    expect(zoneState([read, unread])).toMatchObject({
      ...{ status: 'False', reason: 'ZoneUnavailable' },
      message: `1 of 2 hosted zones cannot be read, the first: ${unread.failure}; new records are written unchecked`,
    });
    expect(zoneState([{ ...unread, ...read, lastRead: NOW }])?.message).toContain(
      `; the records read at ${NOW} are used`,
    );
    expect(zoneState([read, { id: 'Z3' }])).toMatchObject({ status: 'Unknown', reason: 'ZonesNotReadYet' });
  });

  it('stays while nothing can be decided', () => {
    const why = { reason: 'NotRead', message: 'no' };
    const { conditions } = undecidedStatus(WEIGHT, why, { zones: [read], now: NOW });
    expect(findCondition(conditions, 'ZonesRead')).toMatchObject({ status: 'True' });
  });
});

describe('with hosted zones', () => {
  const spec = { ...SPEC, hostedZoneIDs: ['Z1'] };
  const zone = zoneOf('Z1', []);
  const read = (ms: number) => [{ id: 'Z1', zone, readFrom: NOW_MS + ms }];
  const lost = (ms: number) => read(ms).map((each) => ({ ...each, failure: DENIED, lastRead: '2026-01-01T00:00:00Z' }));
  const differs = (since: number): NonNullable<Outcome['comparison']> => ({
    differences: [{ host: 'a', how: 'the zone Z1 has the weight 75 instead of 40' }],
    since: new Map([['a', NOW_MS + since]]),
  });
  const same = { differences: [], since: new Map() };

  it.each<[string, Partial<Outcome>, number, string]>([
    ['have it', { zones: read(0), comparison: same }, 40, 'Ready True InForce'],
    ['were not read since it changed', { zones: read(-1), comparison: same }, 75, 'Ready False NotPublishedYet'],
    ['were never read', { zones: [{ id: 'Z1' }], comparison: same }, 75, 'Ready False ZonesNotReadYet'],
    ['cannot be read', { zones: [{ id: 'Z1', failure: 'no' }], comparison: same }, 75, 'Ready False ZoneUnavailable'],
    ['had it, and can no longer be read', { zones: lost(0), comparison: same }, 40, 'Ready True InForce'],
    [
      'were not read since it changed, and cannot be',
      { zones: lost(-1), comparison: same },
      75,
      'Ready False ZoneUnavailable',
    ],
    [
      'differ, and can no longer be read',
      { zones: lost(0), comparison: differs(0) },
      75,
      'Ready False ZoneUnavailable',
    ],
    ['do not have it yet', { zones: read(179_999), comparison: differs(0) }, 75, 'Ready False NotPublishedYet'],
    ['do not get it', { zones: read(180_000), comparison: differs(0) }, 75, 'Ready False NotPublished'],
    [
      'do not get it, and applied is enough',
      { zones: read(180_000), comparison: differs(0), spec: { ...spec, acknowledge: 'Applied' } },
      75,
      'Ready False NotPublished',
    ],
  ])('a weight is in force if they have it: they %s', (_, over, currentWeight, ready) => {
    const status = decided({ spec, ...over });
    expect([status.currentWeight, states(status)[0]]).toEqual([currentWeight, ready]);
    expect(isInForce(status, spec)).toBe(currentWeight === 40);
  });

  it('names the hosts that differ, and how', () => {
    const { conditions } = decided({ spec, zones: read(180_000), comparison: differs(0) });
    expect(findCondition(conditions, 'Published')?.message).toBe(
      '1 hosts differ in the hosted zones: a: the zone Z1 has the weight 75 instead of 40. Check the log and the flags of external-dns.',
    );
  });

  it.each([
    [-1_800_000, 'True AllPublished'],
    [-1_800_001, 'Unknown ZoneUnavailable'],
  ])(
    'that had the weights, and can no longer be read, count as they were for 30 minutes: %s ms',
    (readAt, expected) => {
      const before = { appliedWeight: 40, currentWeight: 40, lastStepTime: '2025-12-31T00:00:00Z' };
      const status = decided({ spec, zones: lost(readAt), comparison: same }, { ...WEIGHT, status: before });
      expect(states(status)).toContain(`Published ${expected}`);
      expect([status.currentWeight, isInForce(status, spec)]).toEqual([40, readAt === -1_800_000]);
    },
  );

  it('that can no longer be read are named, with the time, the error and the way out, also by a ramp that waits', () => {
    const state = { from: 0, target: 40, weight: 10, phase: 'Progressing', failures: 0 } as const;
    const before = { desiredWeight: 40, appliedWeight: 0, currentWeight: 0 };
    const { conditions, ramp, currentWeight } = decided(
      { spec: { ...spec, ramp: { step: 10 } }, step: { weight: 10, state }, zones: lost(-1), comparison: same },
      { ...WEIGHT, status: before },
    );
    expect(findCondition(conditions, 'Published')).toMatchObject({
      ...{ status: 'Unknown', reason: 'ZoneUnavailable' },
      message: `The hosted zone Z1 was read last at 2026-01-01T00:00:00Z: ${DENIED}. Whether it has the weights is not known: none counts as in force, and a ramp takes no further step. Allow route53:ListResourceRecordSets on this zone, or correct spec.hostedZoneIDs`,
    });
    expect([currentWeight, ramp?.nextStepTime]).toEqual([0, undefined]);
    expect(ramp?.message).toBe(
      'The weight is 10 on its way from 0 to 40; no step follows until the hosted zone Z1 can be read',
    );
  });

  it.each([
    ['waits for', -180_000 + 1, undefined],
    ['does not wait for', -180_000, '2026-01-01T00:01:00Z'],
  ])('a ramp %s a host that differs since %s ms', (_, since, nextStepTime) => {
    const ramped = { ...spec, recordTTL: 30, ramp: { step: 10 } };
    const state = { from: 0, target: 40, weight: 10, phase: 'Progressing', failures: 0 } as const;
    const step = { weight: 10, state };
    const { ramp } = decided(
      { spec: ramped, step, zones: read(0), comparison: differs(since) },
      { ...WEIGHT, spec: ramped },
    );
    expect(ramp?.nextStepTime).toBe(nextStepTime);
  });
});

it('names the first that failed, is late, or is not accepted', () => {
  const { conditions } = decided({
    ...{ hosts: [host('a'), host('b', { reason: 'Conflict', message: 'shop/a has the records of b' })], ingresses: 2 },
    endpoints: new Map([
      ['shop/a', READ],
      ['shop/b', LATE],
    ]),
    failures: [failure('shop/b')],
  });
  const message = (type: string): string | undefined => findCondition(conditions, type)?.message;
  expect(message('Applied')).toBe('Failed writes: 1, the first: DNSEndpoint shop/b: no');
  expect(message('Observed')).toBe('external-dns has not read 1 of 2 DNSEndpoints as they are, the first shop/b.');
  expect(message('IngressesAccepted')).toBe(
    '1 of 2 Ingresses and HTTPRoutes are not accepted, the first shop/b: shop/a has the records of b',
  );
});

it('explains twenty hosts, those with a problem first', () => {
  const many = Array.from({ length: 30 }, (_, n) => host(`h${String(n).padStart(2, '0')}`));
  const { explain, hosts } = decided({ hosts: [...many, host('z', { message: 'wrong' })] });
  expect(hosts).toBe(31);
  expect(explain?.map(({ host: name }) => name)).toEqual(['z', ...many.slice(0, 19).map(({ host: name }) => name)]);
});

describe('with a backend', () => {
  const FAILURE = { reason: 'BackendUnavailable', message: 'DynamoDB did not answer: TimeoutError' };
  const weights = { desired: 40, current: 75 };
  const TABLE: TrafficWeight = { ...WEIGHT, spec: { clusterName: 'a', backend: { dynamodb: {} } } };

  it.each([
    ['above 0, is not', 40, 'Ready False NoRecords'],
    ['of 0, is', 0, 'Ready False NotAcknowledgedYet'],
  ])('a weight of no record, %s acknowledged', (_, desired, ready) => {
    const over = { desiredWeight: desired, step: { weight: desired }, endpoints: new Map(), hosts: [] };
    const status = decided({ ...over, backend: { weights: { desired, current: 75 } } }, TABLE);
    expect(states(status)[0]).toBe(ready);
  });

  it('that measures, has nothing to acknowledge', () => {
    const measured = { ...WEIGHT, spec: { clusterName: 'a', backend: { prometheus: { query: 'up' } } } };
    const status = decided({ backend: { weights: { desired: 40, current: undefined } } }, measured);
    expect(states(status).slice(0, 3)).toEqual([
      'Ready True InForce',
      'BackendRead True WeightRead',
      'Applied True AllApplied',
    ]);
  });

  it('has the current weight of the table until one was in force', () => {
    const fresh = { metadata: TABLE.metadata!, spec: TABLE.spec };
    const late = { backend: { weights }, endpoints: new Map([['shop/a', LATE]]) };
    expect(decided(late, fresh).currentWeight).toBe(75);
    expect(decided({ backend: { weights } }, fresh).currentWeight).toBe(40);
  });

  it.each<[string, BackendView, string, string, string]>([
    [
      'knows that it is',
      { weights: { desired: 40, current: 40 } },
      'Ready True InForce',
      'BackendRead True WeightRead',
      'Acknowledged True WeightAcknowledged',
    ],
    [
      'does not know it yet',
      { weights },
      'Ready False NotAcknowledgedYet',
      'BackendRead True WeightRead',
      'Acknowledged False NotAcknowledgedYet',
    ],
    [
      'cannot be told',
      { weights, unacknowledged: FAILURE },
      'Ready False AcknowledgeFailed',
      'BackendRead True WeightRead',
      'Acknowledged False AcknowledgeFailed',
    ],
    [
      'cannot be read',
      { weights, failure: FAILURE },
      'Ready False BackendUnavailable',
      'BackendRead False BackendUnavailable',
      'Acknowledged False NotAcknowledgedYet',
    ],
    [
      'could not be read since a start',
      { failure: FAILURE },
      'Ready False BackendUnavailable',
      'BackendRead False BackendUnavailable',
      'Acknowledged Unknown BackendUnavailable',
    ],
  ])('that %s, a weight is in force', (_, backend, ...wanted) => {
    const status = decided({ backend }, TABLE);
    expect(states(status).slice(0, 3)).toEqual(wanted);
    expect([status.currentWeight, isInForce(status, SPEC)]).toEqual([40, true]);
  });

  it('says what is late before that it is not acknowledged', () => {
    const status = decided({ backend: { weights }, endpoints: new Map([['shop/a', LATE]]) }, TABLE);
    expect(states(status)[0]).toBe('Ready False NotObservedYet');
  });

  it('says that the last weight stays while it cannot be read, and why it cannot be told', () => {
    const messages = (backend: BackendView) =>
      ['BackendRead', 'Acknowledged'].map(
        (type) => findCondition(decided({ backend }, TABLE).conditions, type)?.message,
      );
    expect(messages({ weights, failure: FAILURE })[0]).toBe(`${FAILURE.message}; the last weight stays`);
    expect(messages({ failure: FAILURE })).toEqual([`${FAILURE.message}; the last weight stays`, FAILURE.message]);
    expect(messages({ weights, unacknowledged: FAILURE })[1]).toBe(FAILURE.message);
  });

  it('drops the conditions if the weight becomes static', () => {
    const before = { ...WEIGHT, status: decided({ backend: { weights } }, TABLE) };
    expect(states(decided({}, before)).join()).not.toMatch(/BackendRead|Acknowledged/);
  });

  it('has the condition also if nothing could be decided', () => {
    const status = undecidedStatus(TABLE, FAILURE, { backend: { failure: FAILURE }, now: NOW });
    expect(states(status).slice(0, 2)).toEqual([
      'Ready False BackendUnavailable',
      'BackendRead False BackendUnavailable',
    ]);
  });
});

it.each<[string, Partial<Outcome>, TrafficWeight['spec'], boolean]>([
  ['all are read', {}, SPEC, true],
  ['one is late', { endpoints: new Map([['shop/a', LATE]]) }, SPEC, false],
  [
    'one is late, and applied is enough',
    { endpoints: new Map([['shop/a', LATE]]) },
    { ...SPEC, acknowledge: 'Applied' },
    true,
  ],
  ['a write failed', { failures: [failure('shop/a')] }, { ...SPEC, acknowledge: 'Applied' }, false],
  ['one is unchanged', { stale: ['shop/b'] }, { ...SPEC, acknowledge: 'Applied' }, false],
  ['the removal of most namespaces waits', { unconfirmed: WAITS }, SPEC, false],
  ['the removal of one namespace waits', { unconfirmed: OF_ONE }, SPEC, true],
])('a weight is in force if %s', (_, over, spec, wanted) => {
  expect(isInForce(decided({ ...over, spec }), spec)).toBe(wanted);
});

it.each<[string, Partial<Outcome>, boolean]>([
  ['all carry it', {}, true],
  ['one is unchanged', { stale: ['shop/b'] }, true],
  ['a removal waits for its confirmation', { unconfirmed: WAITS }, true],
  ['a write failed', { stale: ['shop/b'], failures: [failure('shop/a')] }, false],
  ['one is late', { stale: ['shop/b'], endpoints: new Map([['shop/a', LATE]]) }, false],
])('a step of a ramp is done if %s', (_, over, wanted) => {
  const state = { from: 75, target: 0, weight: 40, phase: 'Progressing', failures: 0 } as const;
  const spec = { ...SPEC, ramp: { step: 35 } };
  const { ramp, currentWeight } = decided({ ...over, spec, step: { weight: 40, state } });
  expect(ramp?.nextStepTime !== undefined).toBe(wanted);
  expect(currentWeight).toBe(Object.keys(over).length === 0 ? 40 : 75);
});

it('says that a removal waits until none does', () => {
  const waits = decided({ unconfirmed: OF_ONE });
  const before = { ...WEIGHT, status: waits };
  const why = { reason: 'BackendUnavailable', message: 'no' };
  const removals = (status: typeof waits) => states(status).filter((state) => state.startsWith('Removals'));
  expect([waits, undecidedStatus(before, why, { now: NOW }), decided({}, before)].map(removals)).toEqual([
    ['RemovalsConfirmed False RemovalNotConfirmed'],
    ['RemovalsConfirmed Unknown BackendUnavailable'],
    [],
  ]);
});

it('names the DNSEndpoints that are unchanged', () => {
  const { conditions } = decided({ stale: ['a/1', 'b/2', 'c/3', 'd/4'] });
  expect(findCondition(conditions, 'Applied')?.message).toMatch(
    /^4 DNSEndpoints cannot be written and may carry another weight than 40: a\/1, b\/2, c\/3.*ramp does not wait/,
  );
});

it('has short messages, whatever they quote', () => {
  const long = 'x'.repeat(100_000);
  const { conditions } = decided({ failures: [failure(long)], hosts: [host('b', { message: long })] });
  const undecided = undecidedStatus(WEIGHT, { reason: 'NotRead', message: long }, { now: NOW });
  for (const { message } of [...(conditions ?? []), ...(undecided.conditions ?? [])]) {
    expect(message.length).toBeLessThanOrEqual(1_024);
  }
});

it('names the failed write that is the first by name, so that the message stays', () => {
  const message = (names: string[]) =>
    findCondition(decided({ failures: names.map(failure) }).conditions, 'Applied')?.message;
  expect(message(['shop/b', 'shop/a'])).toBe('Failed writes: 2, the first: DNSEndpoint shop/a: no');
  expect(message(['shop/a', 'shop/b'])).toBe(message(['shop/b', 'shop/a']));
});
