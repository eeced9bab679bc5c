import type { V1Ingress } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { dnsEndpointOf } from './dnsEndpoint.ts';
import { KEPT_ANNOTATION, type DnsEndpoint } from './endpoint.ts';
import { recordsOf, type Surroundings, type WeightSettings } from './records.ts';
import { NO_ZONES } from '../zone/published.ts';
import { zoneOf, type StatedSet } from '../zone/recordSets.ts';
import { targetsOf, sourceOfIngress } from './source.ts';
import { weightOf } from './weight.ts';

const SETTINGS: WeightSettings = {
  clusterName: 'cluster-a',
  bindingDomain: 'example.org',
  annotationPrefix: 'dns.adevinta.com',
  clusterWeight: 80,
};
const ANNOTATION = 'dns.adevinta.com/traffic-weight';
const READY: Surroundings = { endpoint: undefined, isReady: () => true, holderOf: () => undefined, zones: NO_ZONES };
const LOAD_BALANCER = { hostname: 'lb.example.net' };

interface Made {
  readonly rules?: readonly { host?: string; services?: readonly string[] }[];
  readonly annotation?: string;
  readonly addresses?: readonly { hostname?: string; ip?: string }[];
  readonly name?: string;
  readonly createdAt?: string;
}

function ingress(made: Made = {}): V1Ingress {
  const { rules = [{ host: 'app.example.org', services: ['web'] }], annotation, addresses = [LOAD_BALANCER] } = made;
  return {
    metadata: {
      ...{ name: made.name ?? 'web', namespace: 'shop', uid: 'u1' },
      creationTimestamp: new Date(made.createdAt ?? '2026-01-01T00:00:00Z'),
      ...(annotation !== undefined && { annotations: { [ANNOTATION]: annotation } }),
    },
    spec: {
      rules: rules.map(({ host, services }) => ({
        ...(host !== undefined && { host }),
        ...(services !== undefined && {
          http: {
            paths: services.map((name) => ({
              ...{ path: '/', pathType: 'Prefix' },
              backend: { service: { name, port: { number: 80 } } },
            })),
          },
        }),
      })),
    },
    status: { loadBalancer: { ingress: [...addresses] } },
  };
}

/** Without the factors, whose product the weight is: see weight.test.ts. */
const decided = (made: Made, around: Partial<Surroundings> = {}, settings: Partial<WeightSettings> = {}) => {
  const records = recordsOf(sourceOfIngress(ingress(made)), { ...SETTINGS, ...settings }, { ...READY, ...around });
  for (const { weight, factors } of records.hosts) expect(factors && weightOf(factors)).toBe(weight);
  const hosts = records.hosts.map(({ host, weight, reason, problem }) => {
    return { host, weight, reason, ...(problem !== undefined && { problem }) };
  });
  return { ...records, hosts };
};

const weights = (...given: Parameters<typeof decided>): Record<string, number | undefined> =>
  Object.fromEntries(decided(...given).hosts.map(({ host, weight }) => [host, weight]));

function existing(weight: string, kept?: string): DnsEndpoint {
  const annotations = kept === undefined ? {} : { annotations: { [KEPT_ANNOTATION]: kept } };
  const providerSpecific = [{ name: 'aws/weight', value: weight }];
  const endpoint = { dnsName: 'app.example.org', targets: ['lb.example.net'], recordType: 'CNAME', providerSpecific };
  return { metadata: annotations, spec: { endpoints: [endpoint] } };
}

describe('the records of an Ingress', () => {
  it('have the form of the original', () => {
    expect(decided({}, {}, { healthCheckId: 'abc' }).endpoints).toEqual([
      {
        dnsName: 'app.example.org',
        targets: ['lb.example.net'],
        recordType: 'CNAME',
        setIdentifier: 'cluster-a',
        providerSpecific: [
          { name: 'aws/weight', value: '80' },
          { name: 'aws/health-check-id', value: 'abc' },
        ],
      },
    ]);
  });

  it('have the TTL that is asked for', () => {
    expect(decided({}, {}, { recordTtl: 60 }).endpoints).toMatchObject([{ recordTTL: 60 }]);
  });

  it('are of hosts within the domain, each once, also wildcards', () => {
    const hosts = ['App.example.org', 'app.example.org', '*.example.org', 'evilexample.org', 'example.org', undefined];
    const rules = hosts.map((host) => ({ ...(host !== undefined && { host }), services: ['web'] }));
    expect(weights({ rules, addresses: [{ ip: '192.0.2.1' }] })).toEqual({
      'app.example.org': 80,
      '*.example.org': 80,
      'example.org': 80,
    });
  });

  it('are none without an address of the load balancer', () => {
    expect(decided({ addresses: [] }).endpoints).toEqual([]);
  });
});

describe('the weight of each host', () => {
  const TWO = [
    { host: 'a.example.org', services: ['silent'] },
    { host: 'b.example.org', services: ['web'] },
  ];
  const isReady = (service: string): boolean => service !== 'silent';

  it('is 0 if a Service of this host has no ready endpoint, whatever the others have', () => {
    expect(weights({ rules: TWO }, { isReady })).toEqual({ 'a.example.org': 0, 'b.example.org': 80 });
    expect(decided({ rules: TWO }, { isReady }).hosts[0]).toEqual({
      ...{ host: 'a.example.org', weight: 0, reason: 'NoReadyEndpoints' },
      problem: 'no ready endpoint of Service silent',
    });
  });

  it('is 0 if one of several Services of the host has none', () => {
    expect(weights({ rules: [{ host: 'a.example.org', services: ['web', 'silent'] }] }, { isReady })).toEqual({
      'a.example.org': 0,
    });
  });

  it('names three of many Services', () => {
    const services = ['c', 'a', 'e', 'b', 'd'];
    const made = { rules: [{ host: 'a.example.org', services }] };
    expect(decided(made, { isReady: () => false }).hosts[0]?.problem).toBe(
      'no ready endpoint of Service a, b, c and 2 more',
    );
  });

  it('is 0 for a rule without backends', () => {
    expect(decided({ rules: [{ host: 'a.example.org' }] }).hosts).toEqual([
      {
        host: 'a.example.org',
        weight: 0,
        reason: 'NoReadyEndpoints',
        problem: 'a rule has no backend, or a backend does not resolve',
      },
    ]);
  });

  it('does not depend on a backend that is no Service', () => {
    const made = ingress();
    made.spec!.rules![0]!.http!.paths[0]!.backend = { resource: { kind: 'Bucket', name: 'static' } };
    expect(recordsOf(sourceOfIngress(made), SETTINGS, READY).hosts).toMatchObject([{ weight: 80 }]);
  });

  it('is the share that the annotation asks for, and keeps it', () => {
    expect(decided({ annotation: '25' })).toMatchObject({
      kept: { kind: 'Percent', percent: 25 },
      hosts: [{ weight: 20, reason: 'Annotation' }],
    });
  });

  it.each([
    ['no record', undefined, undefined, 'there is no record until it is valid'],
    ['a record', existing('30'), 30, 'the weight 30 stays'],
    ['a record above the weight of the cluster', existing('90'), 80, 'the weight 90 stays'],
    ['a record whose weight is none', existing('NaN'), undefined, 'there is no record until it is valid'],
    ['a record with the last valid value', existing('7', '25%'), 20, 'the last valid value 25 stays'],
    ['a record that had no annotation', existing('7', 'none'), 80, "the cluster's weight stays"],
    ['a record that was not ready meanwhile', existing('0', '30'), 30, 'the weight 30 stays'],
    ['a record whose kept value is garbage', existing('30', 'much'), 30, 'the weight 30 stays'],
  ])('with an invalid annotation and %s: the last valid value or weight applies', (_, endpoint, weight, problem) => {
    const { hosts, endpoints } = decided({ annotation: 'NaN' }, { endpoint });
    const why = `annotation ${ANNOTATION}: "NaN": must be a number from 0 to 100, such as "25"; more counts as 100`;
    expect(hosts).toEqual([
      { host: 'app.example.org', weight, reason: 'InvalidAnnotation', problem: `${why}; ${problem}` },
    ]);
    expect(endpoints).toHaveLength(weight === undefined ? 0 : 1);
  });

  it('with an invalid annotation comes back when its Services do', () => {
    let endpoint: DnsEndpoint | undefined = existing('30');
    for (const [isReady, wanted] of [
      [false, 0],
      [true, 30],
    ] as const) {
      const source = sourceOfIngress(ingress({ annotation: 'NaN' }));
      const records = recordsOf(source, SETTINGS, { ...READY, endpoint, isReady: () => isReady });
      expect(records.hosts).toMatchObject([{ weight: wanted }]);
      endpoint = dnsEndpointOf(source, records);
    }
  });

  it('is none where another Ingress has the host', () => {
    const { endpoints, hosts } = decided(
      {},
      { holderOf: () => ({ name: 'shop/older', targets: [], isShared: false, isSameNamespace: true }) },
    );
    expect(endpoints).toEqual([]);
    expect(hosts).toMatchObject([
      {
        weight: undefined,
        reason: 'Conflict',
        problem: expect.stringContaining('shop/older has the records of app.example.org, ') as string,
      },
    ]);
  });

  it.each([
    [true, { reason: 'SharedHost' }],
    [
      false,
      {
        reason: 'OtherNamespace',
        problem:
          'HTTPRoute a/web has the records of app.example.org; an object of another namespace does not count for their weight',
      },
    ],
  ])(
    'is none where a route with the same addresses has the host; of the same namespace: %s',
    (isSameNamespace, why) => {
      const holder = { name: 'HTTPRoute a/web', targets: [], isShared: true, isSameNamespace };
      expect(decided({}, { holderOf: () => holder })).toMatchObject({
        endpoints: [],
        hosts: [{ host: 'app.example.org', weight: undefined, ...why }],
      });
    },
  );
});

it.each([
  [[], []],
  [[{}], []],
  [[{ hostname: 'b.example.net' }, { hostname: 'a.example.net' }], [['CNAME', ['b.example.net']]]],
  [[{ ip: '192.0.2.2' }, { ip: '192.0.2.1' }, { ip: '192.0.2.1' }], [['A', ['192.0.2.1', '192.0.2.2']]]],
  [
    [{ ip: '2001:db8::1' }, { ip: '192.0.2.1' }],
    [
      ['A', ['192.0.2.1']],
      ['AAAA', ['2001:db8::1']],
    ],
  ],
  [[{ ip: '192.0.2.1' }, { hostname: 'a.example.net' }], [['CNAME', ['a.example.net']]]],
  [[{ ip: '127.0.0.1' }, { ip: '::1' }, { ip: '0.0.0.0' }, { hostname: 'localhost' }], []],
  [[{ ip: '127.1.0.1' }, { ip: '192.0.2.1' }], [['A', ['192.0.2.1']]]],
  [[{ ip: '0:0:0:0:0:0:0:1' }, { ip: '::ffff:127.0.0.1' }, { ip: '::' }], []],
  [[{ ip: '1::' }, { ip: '::1:1' }], [['AAAA', ['1::', '::1:1']]]],
] as const)('a load balancer with %j has the record sets %j', (addresses, wanted) => {
  expect(targetsOf(addresses).map(({ recordType, targets }) => [recordType, targets])).toEqual(wanted);
});

describe('a host in a zone of Route 53', () => {
  const HOST = 'app.example.org';
  const inZone = (over: StatedSet): Pick<Surroundings, 'zones'> => {
    return { zones: { ...NO_ZONES, zones: [zoneOf('Z1', [{ Name: `${HOST}.`, Type: 'CNAME', ...over }])] } };
  };
  const written: DnsEndpoint = { spec: { endpoints: [{ dnsName: HOST, recordType: 'CNAME', targets: ['x'] }] } };

  it('has no record if one is in the way, unless it was written before', () => {
    const around = inZone({ TTL: 60 });
    const problem = expect.stringContaining('the zone Z1 has the CNAME record') as string;
    const refused = decided({}, around);
    expect(refused.endpoints).toEqual([]);
    expect(refused.hosts).toEqual([{ host: HOST, weight: undefined, reason: 'RecordInTheWay', problem }]);
    const stays = decided({}, { ...around, endpoint: written });
    expect(stays.endpoints).toHaveLength(1);
    expect(stays.hosts).toEqual([{ host: HOST, weight: 80, reason: 'RecordInTheWay', problem }]);
  });

  it('takes the TTL of the other clusters, with the weight that is asked for', () => {
    const around = inZone({ SetIdentifier: 'cluster-b', Weight: 1, TTL: 60 });
    const { endpoints, hosts } = decided({ annotation: '50' }, around);
    expect(endpoints).toMatchObject([{ dnsName: HOST, recordTTL: 60 }]);
    expect(hosts).toMatchObject([{ weight: 40, reason: 'DifferentTTL' }]);
    const ready = decided({ annotation: '50' }, around, { recordTtl: 60 });
    expect(ready.hosts).toMatchObject([{ weight: 40, reason: 'Annotation' }]);
  });

  it('tells all that is wrong', () => {
    const around = inZone({ SetIdentifier: 'cluster-b', Weight: 1, TTL: 60 });
    const { endpoints, hosts } = decided({}, { ...around, isReady: () => false });
    expect(endpoints).toMatchObject([{ recordTTL: 60 }]);
    expect(hosts).toMatchObject([{ weight: 0, reason: 'DifferentTTL' }]);
    expect(hosts[0]?.problem).toMatch(/^no ready endpoint of Service web; the other clusters have /);
  });
});
