import type { V1Ingress } from '@kubernetes/client-node';
import { APPLIED_HASH_ANNOTATION } from '../../runtime/apply/difference.ts';
import { describe, expect, it } from 'vitest';
import { KEPT_ANNOTATION, type DnsEndpoint } from '../records/endpoint.ts';
import { NO_ZONES } from '../zone/published.ts';
import { zoneOf } from '../zone/recordSets.ts';
import { sourceOfIngress } from '../records/source.ts';
import { NO_REMOVALS } from './removal.ts';
import { isObserved, OWNER_LABEL, planRecords, type RecordsPlan, type Scene } from './plan.ts';

const LOAD_BALANCER = { hostname: 'lb.example.net' };
const SETTINGS = {
  clusterName: 'cluster-a',
  bindingDomain: 'example.org',
  annotationPrefix: 'dns.adevinta.com',
  clusterWeight: 75,
};

function ingress(
  name: string,
  host = `${name}.example.org`,
  addresses: readonly object[] = [LOAD_BALANCER],
): V1Ingress {
  const backend = { service: { name: 'web', port: { number: 80 } } };
  return {
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, creationTimestamp: new Date('2026-01-01T00:00:00Z') },
    spec: { rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
    status: { loadBalancer: { ingress: [...addresses] } },
  };
}

function endpointOf(name: string, uid = `uid-${name}`, owner?: string): DnsEndpoint {
  const providerSpecific = [{ name: 'aws/weight', value: '75' }];
  const record = {
    dnsName: `${name}.example.org`,
    targets: ['old.example.net'],
    recordType: 'CNAME',
    providerSpecific,
  };
  return {
    metadata: {
      ...{ name, namespace: 'shop', generation: 3 },
      ...(owner !== undefined && { labels: { [OWNER_LABEL]: owner } }),
      annotations: { [APPLIED_HASH_ANNOTATION]: 'x' },
      ownerReferences: [{ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name, uid, controller: true }],
    },
    spec: { endpoints: [record] },
  };
}

function withoutController({ metadata, ...rest }: DnsEndpoint): DnsEndpoint {
  return { ...rest, metadata: { ...metadata, ownerReferences: [] } };
}

function plan(
  ingresses: readonly V1Ingress[],
  endpoints: readonly DnsEndpoint[] = [],
  over: Partial<Scene> = {},
): RecordsPlan {
  const byKey = new Map(endpoints.map((one) => [`${one.metadata?.namespace}/${one.metadata?.name}`, one]));
  return planRecords({
    ...{ owner: 'main', settings: SETTINGS, sources: ingresses.map(sourceOfIngress), unselected: [], undecided: [] },
    endpointOf: (key) => byKey.get(key),
    owned: endpoints,
    ...{ rivals: [], otherOwnerOf: () => undefined, isOwner: (name) => name === 'main' || name === 'other' },
    isReady: () => true,
    zones: NO_ZONES,
    heldBefore: new Map(),
    removals: { allowed: undefined, before: NO_REMOVALS, now: 0 },
    leftOut: new Set<string>(),
    ...over,
  });
}

const applied = ({ sources }: RecordsPlan): string[] =>
  sources.flatMap(({ desired }) => (desired === undefined ? [] : (desired.metadata?.name ?? '')));
const zoneWith = (host: string, count: number) => {
  const sets = Array.from({ length: count }, (_, n) => ({
    Name: `${host}.`,
    Type: 'CNAME',
    SetIdentifier: `c${n}`,
    Weight: 1,
  }));
  return { ...NO_ZONES, zones: [zoneOf('Z1', sets)] };
};
const removed = ({ removed: gone }: RecordsPlan) => gone.map(({ metadata }) => metadata?.name);

describe('the DNSEndpoints of a cluster', () => {
  it('are created with the label of their owner', () => {
    const [planned] = plan([ingress('web')]).sources;
    expect(planned?.desired?.metadata).toMatchObject({ name: 'web', labels: { [OWNER_LABEL]: 'main' } });
  });

  it('are left to the garbage collector if the Ingress was recreated, and then created', () => {
    const decided = plan([ingress('web')], [endpointOf('web', 'uid-before', 'main')]);
    expect([removed(decided), applied(decided)]).toEqual([[], []]);
    expect(applied(plan([ingress('web')]))).toEqual(['web']);
  });

  it.each([
    ['of the original, which has no label', endpointOf('web'), undefined],
    ['of this owner', endpointOf('web', undefined, 'main'), undefined],
    ['of another owner, which does not have the Ingress', endpointOf('web', undefined, 'other'), undefined],
    [
      'that the Ingress does not control',
      endpointOf('web', 'uid-of-another'),
      'DNSEndpoint shop/web is not controlled by this Ingress; not touched',
    ],
  ])('with one that is there, %s', (_, live, foreign) => {
    const decided = plan([ingress('web')], [live]);
    expect(decided.sources[0]?.foreign).toBe(foreign);
    expect(applied(decided)).toEqual(foreign === undefined ? ['web'] : []);
    expect(removed(decided)).toEqual([]);
  });

  it.each([
    ['is no longer selected', 'unselected', endpointOf('left', undefined, 'main'), ['left']],
    ['is unknown: a cache may be late', undefined, endpointOf('left', undefined, 'main'), []],
    ['is not selected, and the label was removed', 'unselected', endpointOf('left'), []],
    [
      'is not selected, and the label names a different owner',
      'unselected',
      endpointOf('left', undefined, 'other'),
      [],
    ],
    ['was recreated', 'unselected', endpointOf('left', 'uid-before', 'main'), []],
    ['is not its controller', 'unselected', withoutController(endpointOf('left', undefined, 'main')), []],
  ])('whose source %s', (_, where, live, wanted) => {
    const unselected = where === 'unselected' ? [sourceOfIngress(ingress('left'))] : [];
    const decided = plan([ingress('web')], [live], { unselected });
    expect(removed(decided)).toEqual(wanted);
    expect(applied(decided)).toEqual(['web']);
  });

  it('are left alone if another owner has the Ingress', () => {
    for (const live of [[], [endpointOf('web', undefined, 'other')]]) {
      const decided = plan([ingress('web')], live, { otherOwnerOf: () => 'other' });
      expect(decided.sources[0]?.foreign).toBe('DNSEndpoint shop/web belongs to other; not touched');
      expect([applied(decided), removed(decided)]).toEqual([[], []]);
    }
  });

  it.each([
    ['of the original', endpointOf('b')],
    ['of an owner that is gone', endpointOf('b', undefined, 'gone')],
    ['of this owner', endpointOf('b', undefined, 'main')],
  ])('are removed, also those %s, if another Ingress has all hosts', (_, live) => {
    const host = 'b.example.org';
    const [a, b] = [ingress('a', host), ingress('b', host)];
    const decided = plan([a, b], [{ ...endpointOf('a'), spec: live.spec! }, live]);
    expect([applied(decided), removed(decided)]).toEqual([['a'], ['b']]);
    expect(decided.stale).toEqual([]);
  });

  it('stay with an invalid annotation, though no weight is known', () => {
    const invalid = ingress('web');
    invalid.metadata!.annotations = { 'dns.adevinta.com/traffic-weight': 'NaN' };
    const live = endpointOf('web');
    delete live.spec!.endpoints![0]!.providerSpecific;
    expect(plan([invalid], [live])).toMatchObject({
      sources: [{ desired: undefined }],
      removed: [],
      stale: ['shop/web'],
    });
  });

  it.each([
    ['of an owner that is gone', 'unselected', 'gone', []],
    ['of the original', 'unselected', undefined, []],
    ['of one that cannot be decided yet', 'undecided', 'main', []],
    ['of another owner, which removes it', 'unselected', 'other', ['a']],
  ])('are not of an Ingress whose host a DNSEndpoint that stays has, %s', (_, where, label, wanted) => {
    const left = [sourceOfIngress(ingress('b', 'elsewhere.example.org'))];
    const live = endpointOf('b', undefined, label);
    live.spec!.endpoints![0]!.setIdentifier = 'cluster-a';
    const decided = plan([ingress('a', 'b.example.org')], [live], { [where]: left });
    expect([applied(decided), removed(decided)]).toEqual([wanted, []]);
    live.spec!.endpoints![0]!.setIdentifier = 'cluster-b';
    expect(applied(plan([ingress('a', 'b.example.org')], [live], { [where]: left }))).toEqual(['a']);
  });

  it('are not of an Ingress whose host an Ingress of another owner has', () => {
    const host = 'b.example.org';
    const rivals = [{ source: sourceOfIngress(ingress('b', host)), settings: SETTINGS }];
    const decided = plan([ingress('a', host)], [endpointOf('b', undefined, 'other')], { rivals });
    expect(decided.sources[0]?.hosts).toMatchObject([
      {
        problem:
          'shop/b has the records of b.example.org, which this TrafficWeight does not decide. Select both with one TrafficWeight, or remove the host from one of the two',
      },
    ]);
    expect([applied(decided), removed(decided)]).toEqual([[], []]);
  });

  it('are not of an older Ingress that does not control its DNSEndpoint', () => {
    const decided = plan([ingress('b', 'app.example.org'), ingress('a', 'app.example.org')], [endpointOf('a', 'x')]);
    expect(applied(decided)).toEqual(['b']);
    expect(decided.sources[0]?.foreign).toContain('not touched');
  });

  it('stay where they are if an older Ingress gets their host', () => {
    const host = 'b.example.org';
    const decided = plan([ingress('b', host), ingress('a', host)], [endpointOf('b', undefined, 'main')]);
    expect(applied(decided)).toEqual(['b']);
    expect(decided.sources[0]?.hosts).toMatchObject([{ reason: 'SharedHost' }]);
  });

  it('are not made for a name that is too long, which keeps no host from another Ingress', () => {
    const host = 'app.example.org';
    const long = { ...sourceOfIngress(ingress('a', host)), kind: 'HTTPRoute', name: 'a'.repeat(250) } as const;
    const decided = plan([], [], { sources: [long, sourceOfIngress(ingress('b', host))] });
    expect([applied(decided), removed(decided)]).toEqual([['b'], []]);
    expect(decided.sources[0]?.hosts).toMatchObject([{ host, weight: undefined, reason: 'NameTooLong' }]);
  });

  it('stay, with their hosts, if they would become too large', () => {
    const many = Array.from(
      { length: 3_900 },
      (_, n) => `${n}`.padEnd(60, 'x') + `.${'x'.repeat(59)}`.repeat(3) + '.example.org',
    );
    const grown = ingress('b', 'b.example.org');
    grown.spec!.rules!.push(...many.map((host) => ({ ...grown.spec!.rules![0]!, host })));
    const live = endpointOf('b', undefined, 'main');
    live.spec!.endpoints![0]!.setIdentifier = 'cluster-a';
    const decided = plan([ingress('a', 'b.example.org'), ingress('c', many[0]), grown], [live]);
    expect([applied(decided), removed(decided)]).toEqual([['c'], []]);
    expect(new Set(decided.sources[1]?.hosts.map(({ reason }) => reason))).toEqual(new Set(['TooLarge']));
    expect(decided.stale).toEqual(['shop/b']);
  });

  it('are of the older of two Ingresses with one host', () => {
    const decided = plan([ingress('b', 'app.example.org'), ingress('a', 'app.example.org')]);
    expect(applied(decided)).toEqual(['a']);
    expect(decided.sources[1]?.hosts).toMatchObject([{ reason: 'SharedHost' }]);
  });

  it('keep the last address if the load balancer no longer has one', () => {
    const decided = plan([ingress('web', undefined, [])], [endpointOf('web', undefined, 'main')]);
    expect(decided.sources).toMatchObject([
      { hasLostAddress: true, desired: { spec: { endpoints: [{ targets: ['old.example.net'] }] } } },
    ]);
    expect(removed(decided)).toEqual([]);
  });

  it('are none before the load balancer has an address', () => {
    const decided = plan([ingress('web', undefined, [])], [endpointOf('web', 'uid-of-another')]);
    expect(applied(decided)).toEqual([]);
    expect(decided.sources).toMatchObject([{ hasLostAddress: true }]);
  });
});

describe('a DNSEndpoint of this owner that no source plans', () => {
  const own = endpointOf('left', undefined, 'main');
  const left = (addresses?: readonly object[]) => [sourceOfIngress(ingress('left', undefined, addresses))];
  const weights = ({ remaining }: RecordsPlan) =>
    remaining.map(({ desired }) =>
      desired?.spec?.endpoints?.map(({ providerSpecific }) => providerSpecific?.[0]?.value),
    );
  const at = (clusterWeight: number): Partial<Scene> => ({ settings: { ...SETTINGS, clusterWeight } });

  it.each<[string, DnsEndpoint, Partial<Scene>, unknown[]]>([
    ['stays, if its source is not known', own, {}, [undefined]],
    ['has at most the weight of the cluster, if its source is not known', own, at(0), [['0']]],
    [
      'has at most the weight of the cluster, if its source cannot be decided',
      own,
      { ...at(40), undecided: left() },
      [['40']],
    ],
    ['keeps its weight, if its source has lost its address', own, { undecided: left([]) }, [undefined]],
    ['has the weight 0 without a source', withoutController(own), {}, [['0']]],
    [
      'keeps its weight without a source, if it is in the way of a new object of its name',
      withoutController(own),
      { sources: left() },
      [],
    ],
    ['is unchanged if its source is left out', own, { ...at(0), leftOut: new Set(['shop/left']) }, []],
    ['is unchanged if another owner has it', endpointOf('left', undefined, 'other'), at(0), []],
  ])('%s', (_, live, over, wanted) => {
    const decided = plan([], [live], over);
    expect([weights(decided), removed(decided), decided.stale]).toEqual([wanted, [], []]);
  });

  it('that is left to another object stays with its weight until that object has an address', () => {
    const { metadata, ...rest } = withoutController(own);
    const heir = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'new', uid: 'uid-new' };
    const live = { ...rest, metadata: { ...metadata, ownerReferences: [heir] } };
    const without = plan([ingress('new', 'left.example.org', [])], [live]);
    expect([removed(without), weights(without)]).toEqual([[], [undefined]]);
    expect(removed(plan([ingress('new', 'left.example.org')], [live]))).toEqual(['left']);
  });

  it('keeps everything else that the operator has applied', () => {
    const annotations = { ...own.metadata?.annotations, [KEPT_ANNOTATION]: '40%', other: 'x' };
    const live = { ...own, metadata: { ...own.metadata, annotations } };
    expect(plan([], [live], at(0)).remaining[0]?.desired).toEqual({
      ...{ apiVersion: 'externaldns.k8s.io/v1alpha1', kind: 'DNSEndpoint' },
      metadata: {
        ...{ name: 'left', namespace: 'shop', labels: own.metadata!.labels },
        ...{ annotations: { [KEPT_ANNOTATION]: '40%' }, ownerReferences: own.metadata!.ownerReferences },
      },
      spec: { endpoints: [{ ...own.spec!.endpoints![0], providerSpecific: [{ name: 'aws/weight', value: '0' }] }] },
    });
  });
});

describe('hosts that nothing selects any longer', () => {
  const NAMES = ['a', 'b', 'c', 'd'];
  const owned = NAMES.map((name) => endpointOf(name, undefined, 'main'));
  const selected = (count: number, over: Partial<Scene> = {}): RecordsPlan => {
    const unselected = NAMES.slice(count).map((name) => sourceOfIngress(ingress(name)));
    return plan(
      NAMES.slice(0, count).map((name) => ingress(name)),
      owned,
      { unselected, ...over },
    );
  };
  const kept = ({ remaining }: RecordsPlan) => remaining.map(({ key }) => key);
  const TWO = ['c.example.org', 'd.example.org'];
  const { confirm = '' } = selected(2).unconfirmed ?? {};

  it.each<[string, RecordsPlan, string[]]>([
    ['one of four', selected(3), ['d']],
    [
      'two of four, with the confirmation',
      selected(2, { removals: { allowed: confirm, before: NO_REMOVALS, now: 0 } }),
      ['c', 'd'],
    ],
    [
      'two of four, if any removal is allowed',
      selected(2, { removals: { allowed: 'Any', before: NO_REMOVALS, now: 0 } }),
      ['c', 'd'],
    ],
    [
      'two of four, as the rest of a confirmed removal',
      selected(2, {
        removals: {
          allowed: undefined,
          before: { ...NO_REMOVALS, confirmed: new Map([['shop', new Set([...TWO, 'x'])]]) },
          now: 0,
        },
      }),
      ['c', 'd'],
    ],
  ])('lose their records: %s', (_, decided, wanted) => {
    expect([removed(decided), kept(decided), decided.unconfirmed]).toEqual([wanted, [], undefined]);
  });

  it.each<[string, RecordsPlan, string[]]>([
    ['two of four', selected(2), TWO],
    [
      'two of four, with a confirmation of others',
      selected(2, { removals: { allowed: '0000000000000000', before: NO_REMOVALS, now: 0 } }),
      TWO,
    ],
    ['all', selected(0), NAMES.map((name) => `${name}.example.org`)],
  ])('keep their records until that is confirmed: %s', (_, decided, hosts) => {
    expect(removed(decided)).toEqual([]);
    expect(kept(decided)).toEqual(hosts.map((host) => `shop/${host.split('.')[0]}`));
    const value = expect.stringMatching(/^[0-9a-f]{16}$/) as string;
    const namespaces = new Map([['shop', { hosts: hosts.length, confirm: value }]]);
    expect(decided.unconfirmed).toEqual({ hosts, of: 4, confirm: value, namespaces, holdsWeight: true });
  });

  it('are confirmed with another value for other hosts', () => {
    expect(selected(1).unconfirmed?.confirm).not.toBe(confirm);
  });

  it('remember what is confirmed until it has ended', () => {
    const first = selected(2, { removals: { allowed: confirm, before: NO_REMOVALS, now: 0 } });
    expect(first.removals.confirmed).toEqual(new Map([['shop', new Set(TWO)]]));
    const next = selected(4, { removals: { allowed: confirm, before: first.removals, now: 0 } });
    expect(next.removals.confirmed).toEqual(new Map());
  });

  it('do not count if another object has their records', () => {
    const moved = ['c', 'd'].map((name) => ingress(`new-${name}`, `${name}.example.org`));
    const unselected = ['c', 'd'].map((name) => sourceOfIngress(ingress(name)));
    const decided = plan([ingress('a'), ingress('b'), ...moved], owned, { unselected });
    expect(decided.unconfirmed).toBeUndefined();
  });

  it('have one DNSEndpoint also while others wait: the old one of a host that has moved goes', () => {
    const decided = plan([ingress('new-a', 'a.example.org')], owned, {
      unselected: NAMES.map((name) => sourceOfIngress(ingress(name))),
    });
    expect(decided.unconfirmed?.hosts).toHaveLength(3);
    expect([removed(decided), kept(decided)]).toEqual([['a'], ['shop/b', 'shop/c', 'shop/d']]);
  });

  it('keep their records in the DNSEndpoint of other hosts, with at most the weight of the cluster', () => {
    const many = ingress('a');
    const hosts = ['a', 'b', 'c'].map((name) => `${name}.example.org`);
    many.spec!.rules = hosts.map((host) => ({ ...many.spec!.rules![0]!, host }));
    const live = endpointOf('a', undefined, 'main');
    const [record] = live.spec!.endpoints!;
    live.spec!.endpoints = hosts.map((dnsName) => ({ ...record!, dnsName }));
    const settings = { ...SETTINGS, bindingDomain: 'a.example.org', clusterWeight: 10 };
    const decided = plan([many], [live], { settings });
    expect(decided.unconfirmed?.hosts).toEqual(hosts.slice(1));
    const records = decided.sources[0]?.desired?.spec?.endpoints ?? [];
    expect(records.map(({ dnsName, providerSpecific }) => [dnsName, providerSpecific?.[0]?.value])).toEqual(
      hosts.map((host) => [host, '10']),
    );
    // A host that its Ingress no longer asks for loses its records at once.
    many.spec!.rules.pop();
    expect(plan([many], [live], { settings }).unconfirmed).toBeUndefined();
  });
});

it.each([
  [undefined, false],
  [2, false],
  [3, true],
])('a DNSEndpoint of generation 3 with observedGeneration %s was read: %s', (observedGeneration, wanted) => {
  const status = observedGeneration === undefined ? {} : { observedGeneration };
  expect(isObserved({ ...endpointOf('web'), status })).toBe(wanted);
});

describe('a host whose record a zone would not take', () => {
  const full = zoneWith('web.example.org', 100);

  it('keeps the one that was written', () => {
    const decided = plan([ingress('web')], [endpointOf('web')], { zones: full });
    expect([applied(decided), removed(decided)]).toEqual([['web'], []]);
  });

  it('gets no record, and the record of its former host is removed', () => {
    const records = [{ dnsName: 'old.example.org', recordType: 'CNAME', targets: [] }];
    const old = { ...endpointOf('web'), spec: { endpoints: records } };
    const decided = plan([ingress('web')], [old], { zones: full });
    expect([applied(decided), removed(decided)]).toEqual([[], ['web']]);
    expect(applied(plan([ingress('web')], [old], { zones: zoneWith('web.example.org', 99) }))).toEqual(['web']);
  });
});
