import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_EXCLUDED_DEVICES } from '../evaluate/devices/devices.ts';
import { FACT_METRICS } from '../series/factMetrics.ts';
import {
  checkQuery,
  factQuery,
  fallenSpeedsQuery,
  lateQuery,
  quotePromQL,
  ratesQuery,
  lagQuery,
  samplesPerWindowQuery,
  uplinksQuery,
} from './queries.ts';
import type { UsageQuery } from './queries.ts';

const QUERY: UsageQuery = { windowSeconds: 20, matchers: [], excludedDevices: 'cni.*' };
const NODES = { names: ['a.b', 'c'], hosts: ['a.b', '10.0.0.1', 'fd00::1'] };

describe('queries', () => {
  it('asks for the rate of each device that may count', () => {
    expect(ratesQuery(QUERY)).toBe('deriv(node_network_transmit_bytes_total{device!~"lo|cni.*|.+\\\\.[0-9]+"}[20s])');
  });

  it.each([
    { windowSeconds: 20, seconds: 15, why: 'three quarters of the window' },
    { windowSeconds: 3600, seconds: 270, why: 'servers show a sample for five minutes' },
  ])('asks for devices whose newest sample is older than $seconds s: $why', ({ windowSeconds, seconds }) => {
    const late = lateQuery({ ...QUERY, windowSeconds }, undefined, 30);
    const counter = 'node_network_transmit_bytes_total{device!~"lo|cni.*|.+\\\\.[0-9]+"}';
    expect(late).toBe(`timestamp(${counter} offset 30000ms) < time() - ${seconds + 30}`);
  });

  it('excludes virtual devices by default', () => {
    expect(ratesQuery({ windowSeconds: 20, matchers: [] })).toContain(`"lo|${DEFAULT_EXCLUDED_DEVICES}|`);
  });

  it('adds the matchers to each query', () => {
    const query: UsageQuery = { ...QUERY, matchers: [{ name: 'cluster', op: '=', value: 'x' }] };
    for (const text of [
      ratesQuery(query),
      lateQuery(query),
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

  it('asks for the rates of series of given nodes that still get samples', () => {
    const live = ratesQuery(QUERY, { kind: 'live', nodes: { names: ['a.b'], hosts: ['a.b'] } });
    const [byNode, byHost] = ['node=~"a\\\\.b"', 'node="",instance=~"(?:a\\\\.b)(?::[0-9]+)?"'].map((nodes) => {
      const counter = `node_network_transmit_bytes_total{device!~"lo|cni.*|.+\\\\.[0-9]+",${nodes}}`;
      return `deriv(${counter}[20s]) and (timestamp(${counter}) >= time() - 15)`;
    });
    expect(live).toBe(`${byNode} or ${byHost}`);
  });

  it('asks for given veths by name', () => {
    expect(ratesQuery(QUERY, { kind: 'uplinks', nodes: NODES, devices: ['veth1', 'veth.2'] })).toContain(
      'device=~"veth1|veth\\\\.2"',
    );
  });
});

describe('queries with replicas', () => {
  const query: UsageQuery = { ...QUERY, excludedDevices: 'x', replicaLabels: ['replica', 'prom'] };
  const devices = '{device!~"lo|x|.+\\\\.[0-9]+"}';

  it('takes the highest rate of replicas, never their sum, and keeps all other labels', () => {
    const [now, past] = [ratesQuery(query), ratesQuery(query, undefined, 1.5)];
    const counter = `node_network_transmit_bytes_total${devices}`;
    expect(now).toBe(`max without (replica, prom) (deriv(${counter}[20s]) and (timestamp(${counter}) >= time() - 15))`);
    expect(past).toBe(
      `max without (replica, prom) (deriv(${counter}[20s] offset 1500ms) ` +
        `and (timestamp(${counter} offset 1500ms) >= time() - 16.5))`,
    );
  });

  it('asks for the newest sample of any replica', () => {
    const counter = `node_network_transmit_bytes_total${devices}`;
    expect(lateQuery(query)).toBe(`max without (replica, prom) (timestamp(${counter})) < time() - 15`);
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
    for (const text of [ratesQuery(standard), lateQuery(standard), factQuery(standard, 'node_network_speed_bytes')])
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
