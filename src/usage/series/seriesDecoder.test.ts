import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FactMetric } from './factMetrics.ts';
import { FactSamples } from './nodeSamples.ts';
import { RateTable } from './rateTable.ts';
import { SeriesDecoder } from './seriesDecoder.ts';

const AMBIGUOUS = Symbol('ambiguous');
/** Knows the nodes "a" and "b" by label. Without the label, the instance is the node; "shared" belongs to two. */
const RESOLVER = {
  resolve(node: string | undefined, instance: string | undefined) {
    if (node !== undefined) return node === 'a' || node === 'b' ? node : undefined;
    return instance === 'shared' ? AMBIGUOUS : instance;
  },
};
const TOTAL: FactMetric = 'node_network_transmit_bytes_total';

function read(all: readonly unknown[], samples: 'rate' | 'facts' = 'facts', metric: FactMetric = TOTAL): SeriesDecoder {
  const decoder = new SeriesDecoder(RESOLVER, samples);
  const visitor = samples === 'rate' ? decoder : decoder.ofMetric(metric);
  for (const series of all) visitor.visit(series);
  return decoder;
}

function series(labels: Record<string, string>, value = [1.5, '7'] as unknown) {
  return { metric: { node: 'a', instance: 'a:9100', device: 'eth0', ...labels }, value };
}

describe('SeriesDecoder', () => {
  it('groups facts by node, device and metric', () => {
    const decoder = new SeriesDecoder(RESOLVER, 'facts');
    const visit = (metric: FactMetric, value: string, labels = {}): void =>
      decoder.ofMetric(metric).visit(series(labels, [1.5, value]));
    visit(TOTAL, '7');
    visit('node_network_speed_bytes', '1.25e+09');
    visit('node_network_flags', '4099');
    visit('node_network_iface_id', '2');
    visit('node_network_iface_link', '3');
    visit('node_ethtool_info', '1', { driver: 'veth' });
    visit(TOTAL, '8', { node: 'b', device: 'eth1' });
    const { nodes, timeSeconds } = decoder;
    expect(timeSeconds).toBe(1.5);
    expect(nodes.get('a')?.devices).toEqual(
      new Map([
        [
          'eth0',
          { ...new FactSamples(), total: 7, speed: 1.25e9, flags: 4099, ifaceId: 2, ifaceLink: 3, driver: 'veth' },
        ],
      ]),
    );
    expect(nodes.get('b')?.devices.get('eth1')?.total).toBe(8);
  });

  it('counts series without node and instance, also if they come first', () => {
    const nameless = { metric: { device: 'eth0' }, value: [1.5, '7'] };
    const { nodes, unmatched } = read([nameless, nameless, series({}), nameless]);
    expect([unmatched.series, nodes.size]).toEqual([3, 1]);
  });

  it('detects two exporters of a node, in any order of their series', () => {
    const other = { instance: 'a:9200', device: 'eth1' };
    const { nodes } = read([series({}), series(other), series({ device: 'eth2' }), series(other)]);
    expect([...(nodes.get('a')?.instances ?? [])]).toEqual(['a:9100', 'a:9200']);
  });

  it('gives the same result with a reused RateTable as without one, after any previous answers', () => {
    const label = (...values: string[]) => fc.constantFrom(...values);
    const one = fc
      .record({ node: label('a', 'b', 'gone'), instance: label('1', '2'), device: label('eth0', 'eth1', 'veth1') })
      .chain((labels) => label('7', '-1', 'NaN').map((text) => series(labels, [1.5, text])));
    fc.assert(
      fc.property(fc.array(fc.array(one, { maxLength: 8 }), { minLength: 2, maxLength: 5 }), (answers) => {
        const kept = new RateTable();
        for (const answer of answers) {
          const decoder = new SeriesDecoder(RESOLVER, kept);
          for (const each of answer) decoder.visit(each);
          decoder.end();
          expect(told(decoder)).toEqual(told(read(answer, 'rate')));
        }
      }),
    );
  });

  it('removes nodes and devices that are gone from a reused RateTable', () => {
    const kept = new RateTable();
    const passes: Record<string, string>[][] = [[{}, { device: 'veth1' }, { node: 'b' }], [{}], [{}]];
    const held = passes.map((labels) => {
      const decoder = new SeriesDecoder(RESOLVER, kept);
      for (const each of labels) decoder.visit(series(each));
      decoder.end();
      return [...decoder.nodes].map(([name, { devices }]) => [name, ...devices.keys()]);
    });
    expect(held).toEqual([
      [
        ['a', 'eth0', 'veth1'],
        ['b', 'eth0'],
      ],
      [['a', 'eth0']],
      [['a', 'eth0']],
    ]);
  });

  /** The fields that readers of rates use. */
  function told({ nodes, unmatched, ambiguous, timeSeconds }: SeriesDecoder): unknown {
    const each = [...nodes].map(([name, { devices, duplicate, instances, soleInstance, invalid }]) => {
      const rates = new Map([...devices].map(([device, { rate }]) => [device, rate]));
      return [name, { rates, duplicate, instances, soleInstance, invalid }] as const;
    });
    return { each: new Map(each), unmatched, ambiguous, timeSeconds };
  }

  it('reads rates, which have no metric name', () => {
    expect(
      read([series({}, [1.5, '12.5'])], 'rate')
        .nodes.get('a')
        ?.devices.get('eth0')?.rate,
    ).toBe(12.5);
  });

  it.each([
    ['NaN', [1.5, 'NaN']],
    ['+Inf', [1.5, '+Inf']],
    ['-Inf', [1.5, '-Inf']],
    ['an empty text, which Number() reads as 0', [1.5, '']],
    ['hexadecimal, which Number() reads too', [1.5, '0x10']],
    ['words', [1.5, 'seven']],
    ['a number that is no text', [1.5, 7]],
    ['a number that overflows', [1.5, '1e999']],
    ['no value', undefined],
    ['half a value', [1.5]],
    ['null', null],
    ['an object', { value: '7' }],
  ])('records %s as invalid and continues', (_what, value) => {
    const { nodes } = read([{ ...series({}), value }, series({ node: 'b' })]);
    expect([...(nodes.get('a')?.invalid.keys() ?? [])]).toEqual(['eth0']);
    expect(nodes.get('a')?.devices.get('eth0')?.total).toBeNaN();
    expect(nodes.get('b')?.invalid.size).toBe(0);
    expect(nodes.get('b')?.devices.get('eth0')?.total).toBe(7);
  });

  it('records a native histogram, which has no value, as invalid', () => {
    const { metric } = series({});
    const histogram = [1.5, { count: '2', sum: '3', buckets: [[0, '1', '2', '2']] }];
    expect(read([{ metric, histogram }]).nodes.get('a')?.invalid.get('eth0')).toBe(
      'total of eth0 is not a float sample',
    );
  });

  it('quotes an invalid sample, shortened', () => {
    const { nodes } = read([series({}, [1.5, 'x'.repeat(10_000)])]);
    expect(nodes.get('a')?.invalid.get('eth0')?.length).toBeLessThan(100);
  });

  it('treats a speed that is not a number as unknown, not as an invalid sample', () => {
    const { nodes } = read([series({}, [1.5, 'NaN'])], 'facts', 'node_network_speed_bytes');
    expect(nodes.get('a')?.invalid.size).toBe(0);
    expect(nodes.get('a')?.devices.get('eth0')?.speed).toBeNaN();
  });

  it('records two series of one device, with the label that differs', () => {
    const { nodes } = read([series({ cluster: 'x' }), series({ cluster: 'y' }), series({ node: 'b' })], 'rate');
    expect(nodes.get('a')?.duplicate).toContain('eth0');
    expect(nodes.get('a')?.duplicate).toContain('cluster="y"');
    expect(nodes.get('b')?.duplicate).toBeUndefined();
  });

  it('names all labels in which the series of one device differ, if the labels are kept', () => {
    const decoder = new SeriesDecoder(RESOLVER, 'rate');
    for (const labels of [{ replica: 'x' }, { replica: 'y' }, { replica: 'x', cluster: 'z' }]) {
      const one = series(labels as Record<string, string>);
      decoder.visit(one, { labels: one.metric });
    }
    expect(decoder.nodes.get('a')?.differing).toEqual(['cluster', 'replica']);
    expect(read([series({ replica: 'x' }), series({ replica: 'y' })], 'rate').nodes.get('a')?.differing).toEqual([]);
  });

  it('records two exporters of one node', () => {
    const { nodes } = read([series({}), series({ instance: 'a:9796', device: 'eth1' })], 'rate');
    expect(nodes.get('a')?.instances).toEqual(new Set(['a:9100', 'a:9796']));
  });

  it.each([
    null,
    undefined,
    7,
    'text',
    [],
    {},
    { metric: null },
    { metric: 'x' },
    { metric: {} },
    { metric: { device: 1 } },
  ])('counts %j as an unmatched series', (garbage) => {
    const { nodes, unmatched } = read([garbage, series({})]);
    expect([nodes.size, unmatched.series]).toEqual([1, 1]);
  });

  it('counts series of unknown nodes by device, and gives the labels of five nodes', () => {
    const strangers = ['c', 'd', 'e', 'f', 'g', 'h'].flatMap((node) => [
      series({ node }),
      series({ node, device: 'eth1' }),
    ]);
    const { unmatched, nodes } = read(strangers);
    expect(unmatched.series).toBe(12);
    expect([...unmatched.examples]).toHaveLength(5);
    expect([...unmatched.examples][0]).toBe('{node="c",instance="a:9100"}');
    expect(nodes.size).toBe(0);
    expect(read(strangers, 'facts', 'node_network_speed_bytes').unmatched.series).toBe(0);
  });

  it('counts series of an address of several nodes as ambiguous', () => {
    const { ambiguous, unmatched } = read(
      [{ metric: { device: 'eth0', instance: 'shared' }, value: [1.5, '1'] }],
      'rate',
    );
    expect([ambiguous.series, unmatched.series]).toEqual([1, 0]);
    expect([...ambiguous.examples]).toEqual(['{instance="shared"}']);
  });
});
