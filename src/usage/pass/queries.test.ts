import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_EXCLUDED_DEVICES } from '../evaluate/devices/devices.ts';
import { FACT_METRICS } from '../series/factMetrics.ts';
import { checkQuery } from './checkQuery.ts';
import { quotePromQL } from './promql.ts';
import {
  COUNTED_WITH_TWO,
  factQuery,
  fallenSpeedsQuery,
  lateQuery,
  ratesQuery,
  lagQuery,
  samplesPerWindowQuery,
  samplesQueries,
  standingQuery,
  totalsQuery,
  uplinksQuery,
} from './queries.ts';
import type { UsageQuery } from './queries.ts';

const QUERY: UsageQuery = { windowSeconds: 20, matchers: [], excludedDevices: 'cni.*' };
const COUNTER = 'node_network_transmit_bytes_total{device!~"lo|cni.*|.+\\\\.[0-9]+"}';
const NODES = { names: ['a.b', 'c'], hosts: ['a.b', '10.0.0.1', 'fd00::1'] };

describe('queries', () => {
  it('asks for the rate of each device that may count', () => {
    expect(ratesQuery(QUERY)).toBe(`deriv(${COUNTER}[20s])`);
    const ofTwo = ratesQuery(QUERY, COUNTED_WITH_TWO);
    expect(ofTwo).toBe(`deriv(${COUNTER}[20s]) and (count_over_time(${COUNTER}[20s]) > 1)`);
  });

  it.each([
    { windowSeconds: 20, seconds: 15, why: 'three quarters of the window' },
    { windowSeconds: 3600, seconds: 270, why: 'servers show a sample for five minutes' },
  ])('asks for devices whose newest sample is older than $seconds s: $why', ({ windowSeconds, seconds }) => {
    const late = lateQuery({ ...QUERY, windowSeconds }, undefined, 30);
    expect(late).toContain(`timestamp(${COUNTER} offset 30000ms) < time() - ${seconds + 30} or `);
  });

  it('asks in one query for late samples, for devices with one sample, and for counters that fell', () => {
    expect(lateQuery(QUERY).split(' or ')).toEqual([
      `timestamp(${COUNTER}) < time() - 15`,
      `max by (node, instance, device) (count_over_time(${COUNTER}[20s])) < 2`,
      `-(resets(${COUNTER}[32s]) > 0)`,
    ]);
  });

  it('asks about each counter by itself: a store can have fewer samples of one', () => {
    const received = lateQuery(QUERY).replaceAll('transmit', 'receive');
    expect(lateQuery(QUERY, undefined, 0, 'receive')).toBe(received);
  });

  it('asks for the samples of given counters of the time within which they fell', () => {
    const nodes = { names: ['a', '10.0.0.1'], instances: ['a:9100'] };
    const samples = samplesQueries(QUERY, { kind: 'named', nodes, devices: ['eth0'] }, 30, 'receive');
    expect(samples).toEqual(
      ['node=~"a|10\\\\.0\\\\.0\\\\.1"', 'node="",instance=~"a:9100"'].map(
        (of) => `node_network_receive_bytes_total{device=~"eth0",${of}}[32s] offset 30000ms`,
      ),
    );
  });

  it('excludes virtual devices by default', () => {
    expect(ratesQuery({ windowSeconds: 20, matchers: [] })).toContain(`"lo|${DEFAULT_EXCLUDED_DEVICES}|`);
    expect(ratesQuery({ windowSeconds: 600, matchers: [] })).toMatch(/ and \(timestamp\(.*\) >= time\(\) - 270\)$/);
    expect(ratesQuery({ windowSeconds: 120, matchers: [] })).not.toContain('timestamp');
  });

  it('adds the matchers to each query', () => {
    const query: UsageQuery = { ...QUERY, matchers: [{ name: 'cluster', op: '=', value: 'x' }] };
    for (const text of [
      ratesQuery(query),
      lateQuery(query),
      standingQuery(query, 30),
      totalsQuery(query),
      ...samplesQueries(query, { kind: 'named', nodes: NODES, devices: ['eth0'] }, 0, 'transmit'),
      ...FACT_METRICS.map((metric) => factQuery(query, metric)),
      samplesPerWindowQuery(query),
      lagQuery(query),
      uplinksQuery(query, NODES),
      fallenSpeedsQuery(query),
    ]) {
      expect(text).toContain('cluster="x"');
    }
  });

  it('quotes a label name that has other characters, as PromQL wants it', () => {
    const query: UsageQuery = { ...QUERY, matchers: [{ name: 'k8s."cluster"', op: '!=', value: 'x' }] };
    expect(ratesQuery(query)).toContain('{"k8s.\\"cluster\\""!="x",');
  });

  it('never has a pattern of metric names: Google Managed Prometheus refuses it', () => {
    const flags = 'node_network_flags{device!~"lo|cni.*|.+\\\\.[0-9]+"}';
    expect(factQuery(QUERY, 'node_network_flags')).toBe(`max by (node, instance, device, driver) (${flags})`);
  });

  it('asks for the highest speed of devices that are slower now, and of no others', () => {
    const speed = 'node_network_speed_bytes{device!~"lo|cni.*|.+\\\\.[0-9]+"}';
    expect(fallenSpeedsQuery(QUERY)).toBe(
      `max by (node, instance, device) (max_over_time(${speed}[3600s])) > max by (node, instance, device) (${speed})`,
    );
  });

  it('asks for macvlans, else veths, of the given nodes, by label node or instance', () => {
    const byNode = 'node=~"a\\\\.b|c"';
    const byHost = 'node="",instance=~"(?:a\\\\.b|10\\\\.0\\\\.0\\\\.1|\\\\[fd00::1\\\\])(?::[0-9]+)?"';
    const expected = [byNode, byHost].map((nodes) => {
      const counters = (names: string): string => `node_network_transmit_bytes_total{device=~"${names}",${nodes}}`;
      const macvlans = counters('(?:macvlan|macvtap|ipvlan).*');
      return `topk by (node, instance) (2, ${macvlans} or on (node, instance) ${counters('veth.+')})`;
    });
    expect(uplinksQuery(QUERY, NODES)).toBe(expected.join(' or '));
  });

  it('asks for the rates of series of given nodes that still get samples, and have two', () => {
    const live = ratesQuery(QUERY, { kind: 'live', nodes: { names: ['a.b'], instances: ['a.b:9100'] } });
    const [byNode, byHost] = ['node=~"a\\\\.b"', 'node="",instance=~"a\\\\.b:9100"'].map((nodes) => {
      const counter = `node_network_transmit_bytes_total{device!~"lo|cni.*|.+\\\\.[0-9]+",${nodes}}`;
      const live = `(timestamp(${counter}) >= time() - 15)`;
      return `deriv(${counter}[20s]) and ${live} and (count_over_time(${counter}[20s]) > 1)`;
    });
    expect(live).toBe(`${byNode} or ${byHost}`);
  });

  it('asks for facts of given nodes only of series that still get samples', () => {
    const live = factQuery({ ...QUERY, replicaLabels: ['replica'] }, 'node_network_speed_bytes', {
      kind: 'live',
      nodes: { names: ['a'] },
    });
    const speed = 'node_network_speed_bytes{device!~"lo|cni.*|.+\\\\.[0-9]+",node=~"a"}';
    expect(live).toBe(`max by (node, instance, device, driver) (${speed} and (timestamp(${speed}) >= time() - 15))`);
  });

  it('asks for given veths by name', () => {
    expect(ratesQuery(QUERY, { kind: 'named', nodes: NODES, devices: ['veth1', 'veth.2'] })).toContain(
      'device=~"veth1|veth\\\\.2"',
    );
  });
});

describe('queries with replicas', () => {
  const query: UsageQuery = { ...QUERY, excludedDevices: 'x', replicaLabels: ['replica', 'prom'] };
  const devices = '{device!~"lo|x|.+\\\\.[0-9]+"}';

  const max = 'max without (replica, prom)';

  it.each([
    [0, '', 15],
    [1.5, ' offset 1500ms', 16.5],
  ])(
    'takes the highest rate of the replicas with the most samples, %d s ago, never their sum, and keeps all other labels',
    (seconds, offset, oldest) => {
      const counter = `node_network_transmit_bytes_total${devices}`;
      const samples = `count_over_time(${counter}[20s]${offset})`;
      expect(ratesQuery(query, undefined, seconds)).toBe(
        `${max} (deriv(${counter}[20s]${offset}) and (timestamp(${counter}${offset}) >= time() - ${oldest}) ` +
          `unless (${samples} < ignoring (replica, prom) group_left () clamp_min(${max} (${samples}), 2)))`,
      );
    },
  );

  it.each(['transmit', 'receive'] as const)(
    'takes the %s rate of a replica that its link can carry, of given devices',
    (counted) => {
      const scope = { kind: 'named', nodes: { names: ['a'] }, devices: ['eth0'] } as const;
      const counter = `node_network_${counted}_bytes_total{device=~"eth0",node=~"a"}`;
      const samples = `count_over_time(${counter}[20s])`;
      const rates =
        `deriv(${counter}[20s]) and (timestamp(${counter}) >= time() - 15) ` +
        `unless (${samples} < ignoring (replica, prom) group_left () clamp_min(${max} (${samples}), 2))`;
      expect(ratesQuery(query, scope, 0, counted)).toBe(
        `${max} ((${rates}) <= 1.25 * node_network_speed_bytes{device=~"eth0",node=~"a"}) or min without (replica, prom) (${rates})`,
      );
    },
  );

  it('asks for the newest sample and the number of samples of any replica, and for a fall of any', () => {
    const counter = `node_network_transmit_bytes_total${devices}`;
    expect(lateQuery(query).split(' or ')).toEqual([
      `${max} (timestamp(${counter})) < time() - 15`,
      `max by (node, instance, device) (count_over_time(${counter}[20s])) < 2`,
      `-(${max} (resets(${counter}[32s])) > 0)`,
    ]);
  });

  it('takes the speed of the replica with the newest one, and any if a store returns within the query', () => {
    const speed = `node_network_speed_bytes${devices}`;
    expect(factQuery(query, 'node_network_speed_bytes')).toBe(
      `max by (node, instance, device, driver) ((${speed} and on (node, instance, device, replica, prom) ` +
        `topk by (node, instance, device) (1, timestamp(${speed}))) or on (node, instance, device) ${speed})`,
    );
    const flags = 'node_network_flags';
    expect(factQuery(query, flags)).toBe(factQuery({ ...query, replicaLabels: [] }, flags));
  });

  it('asks with GET by default: a proxy may not allow POST', () => {
    const standard = { windowSeconds: 20, matchers: [], direction: 'transmit', replicaLabels: ['replica'] } as const;
    const late = lateQuery(standard);
    for (const text of [ratesQuery(standard), late, factQuery(standard, 'node_network_speed_bytes')])
      expect(text.length).toBeLessThan(3_800);
  });

  it('counts a device of two replicas once when it searches for uplinks', () => {
    expect(uplinksQuery(query, NODES)).toContain(
      'max by (node, instance, device) (node_network_transmit_bytes_total{device=~"veth.+"',
    );
  });
});

describe('quotePromQL', () => {
  it('prevents injection: no value can end the literal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const quoted = quotePromQL(value);
        expect(quoted).toMatch(/^"(?:[^"\\\n]|\\(?:["\\bfnrt]|u[0-9a-f]{4}))*"$/);
        expect(JSON.parse(quoted)).toBe(value);
      }),
    );
  });

  it('replaces lone surrogates, which are invalid in a query', () => {
    expect(quotePromQL('\ud800')).toBe('"\ufffd"');
  });
});

describe('checkQuery', () => {
  it.each([
    [{ ...QUERY, windowSeconds: 0 }, '0 s'],
    [{ ...QUERY, windowSeconds: 1.5 }, '1.5 s'],
    [{ ...QUERY, excludedDevices: '(' }, '"("'],
    [{ ...QUERY, replicaLabels: ['a-b'] }, '"a-b"'],
    [{ ...QUERY, replicaLabels: ['device'] }, 'a replica label is "device": it must not be one of __name__, node'],
    [{ ...QUERY, matchers: [{ name: '', op: '=' as const, value: '' }] }, 'the label name of a matcher is empty'],
  ])('rejects %j', (query, named) => {
    expect(() => checkQuery(query)).toThrow(named);
  });
});
