import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeriesCache } from './seriesCache.ts';
import { RateTable } from './rateTable.ts';
import { createRatesVisitor, SeriesDecoder } from './seriesDecoder.ts';

/** Knows the nodes "a" and "b", and "c" while `hasC`. */
class Nodes {
  hasC = true;
  asked = 0;
  resolve(node: string | undefined, instance: string | undefined): string | symbol | undefined {
    this.asked++;
    if (node === undefined) return instance === 'shared' ? Symbol('several') : instance;
    return node === 'a' || node === 'b' || (node === 'c' && this.hasC) ? node : undefined;
  }
}

const text = (...values: string[]) => fc.constantFrom(...values);
const labels = fc.record(
  {
    node: text('a', 'b', 'c', 'gone', '"],"value":[1,"9"]}'),
    instance: text('1', '2', 'shared'),
    device: text('eth0', 'eth1', ''),
    job: text('x', 'y"},"value":['),
  },
  { requiredKeys: ['device'] },
);
/** Valid samples, samples with invalid text, and values that are not samples. */
const sample = fc.oneof(
  { weight: 8, arbitrary: text('7', '1.5e3', '-1', '0', 'NaN', '+Inf', '', '7"', '0x10').map((it) => [1.5, it]) },
  { weight: 1, arbitrary: fc.constantFrom([1e-7, '7'], [1.5, 7], ['7'], null, { a: 1 }, [1.5, '7', '8']) },
);
const hasC = fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false));
const series = fc.tuple(labels, sample).map(([metric, value]) => ({ metric, value }));
/** "at once": small answers are parsed as a whole. */
type How = 'as it comes' | 'at once' | 'broken off';
/** Successive answers that mostly have the same series in the same order. */
const answers = fc.array(series, { minLength: 1, maxLength: 10 }).chain((all) =>
  fc.array(
    fc.record({
      all: fc.oneof(
        { weight: 3, arbitrary: fc.constant(all) },
        fc.nat(all.length).map((length) => all.slice(0, length)),
        fc.shuffledSubarray(all),
      ),
      others: fc.array(series, { maxLength: 1 }),
      hasC,
      how: text('as it comes', 'as it comes', 'at once', 'broken off') as fc.Arbitrary<How>,
    }),
    { minLength: 2, maxLength: 8 },
  ),
);

function decoderOf(nodes: Nodes, kept?: RateTable): SeriesDecoder {
  return new SeriesDecoder({ resolve: (node, instance) => nodes.resolve(node, instance) }, kept ?? 'rate');
}

/** Reads an answer as a stream: each element as bytes of a buffer. Returns the number of parsed elements. */
function readBytes(all: readonly unknown[], into: SeriesDecoder, known: SeriesCache): number {
  const visitor = createRatesVisitor(into, known);
  let parsed = 0;
  const visit = into.visit.bind(into);
  into.visit = (one, source) => {
    parsed++;
    visit(one, source);
  };
  for (const one of all) {
    const element = JSON.stringify(one);
    const bytes = Buffer.from(`before,${element},{"metric":{}}`);
    visitor.visitBytes?.(bytes, 7, 7 + Buffer.byteLength(element));
  }
  return parsed;
}

function readParsed(all: readonly unknown[], into: SeriesDecoder): SeriesDecoder {
  for (const one of all) into.visit(one);
  return into;
}

/** The fields that readers of rates use. */
function told({ nodes, unmatched, ambiguous, timeSeconds }: SeriesDecoder): unknown {
  const each = [...nodes].map(([name, { devices, duplicate, instances, soleInstance, invalid }]) => {
    const rates = new Map([...devices].map(([device, { rate }]) => [device, rate]));
    return [name, { rates, duplicate, instances, soleInstance, invalid }] as const;
  });
  return { each: new Map(each), unmatched, ambiguous, timeSeconds };
}

function device(node: string, name: string, value: string, more = {}): unknown {
  return { metric: { device: name, instance: '1', node, ...more }, value: [1.5, value] };
}

describe('createRatesVisitor', () => {
  it('gives the same result as parsing each series, after any previous answers', () => {
    fc.assert(
      fc.property(answers, (passes) => {
        const nodes = new Nodes();
        const known = new SeriesCache();
        let kept = new RateTable();
        let cluster = {};
        for (const { all, others, hasC, how } of passes) {
          if (hasC !== nodes.hasC) cluster = {};
          kept = kept.next(cluster);
          nodes.hasC = hasC;
          const answer = [...all, ...others];
          const found = decoderOf(nodes, kept);
          if (how === 'at once') readParsed(answer, found);
          else readBytes(answer, found, known);
          if (how === 'broken off') continue;
          found.end();
          expect(told(found)).toEqual(told(readParsed(answer, decoderOf(nodes))));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('parses a known series again only if it is the first, which gives the time, or its sample is invalid', () => {
    const known = new SeriesCache();
    const answer = [device('a', 'eth0', '1'), device('a', 'eth1', '2'), device('b', 'eth0', '3')];
    expect(readBytes(answer, decoderOf(new Nodes()), known)).toBe(3);
    expect(readBytes(answer, decoderOf(new Nodes()), known)).toBe(1);
    const strange = [device('a', 'eth0', '1'), device('a', 'eth1', 'NaN'), device('b', 'eth0', '4')];
    expect(readBytes(strange, decoderOf(new Nodes()), known)).toBe(2);
  });

  it('parses the series after an added or removed one, and knows them in the next answer', () => {
    const known = new SeriesCache();
    const before = Array.from({ length: 9 }, (_, n) => device('a', `eth${n}`, '1'));
    readBytes(before, decoderOf(new Nodes()), known);
    const without = before.toSpliced(4, 1);
    expect(readBytes(without, decoderOf(new Nodes()), known)).toBe(1 + 4);
    expect(readBytes(without, decoderOf(new Nodes()), known)).toBe(1);
    expect(readBytes(before, decoderOf(new Nodes()), known)).toBe(1 + 5);
  });

  it('records two series of one device in each answer', () => {
    const known = new SeriesCache();
    const answer = ['x', 'y'].map((cluster) => device('a', 'eth0', '1', { cluster }));
    for (let pass = 0; pass < 3; pass++) {
      const found = decoderOf(new Nodes());
      readBytes(answer, found, known);
      expect(found.nodes.get('a')?.duplicate).toBe('eth0, {instance="1",node="a",cluster="y"}');
    }
  });

  it.each([
    ['as a stream', readBytes],
    ['parsed as a whole', (all, into, known) => void all.map((one) => createRatesVisitor(into, known).visit(one))],
  ] as [string, (all: readonly unknown[], into: SeriesDecoder, known: SeriesCache) => unknown][])(
    'names the labels in which the series of one device differ, in each answer, read %s',
    (_how, readAll) => {
      const [known, kept] = [new SeriesCache(), new RateTable()];
      const [x, y] = [{ cluster: 'x"}' }, { cluster: 'y', replica: 'ä' }];
      const pairs = ['a', 'b'].flatMap((node) => [device(node, 'eth0', '1', x), device(node, 'eth0', '1', y)]);
      const one = [device('c', 'eth0', '1', x)];
      const differing = [[...pairs, ...one], [...pairs, ...one], one, pairs, [...one, ...pairs], pairs].map(
        (answer) => {
          const found = decoderOf(new Nodes(), kept);
          readAll(answer, found, known);
          found.end();
          return [...found.nodes].map(([name, node]) => [name, ...node.differing]);
        },
      );
      const both = ['a', 'b'].map((name) => [name, 'cluster', 'replica']);
      expect(differing.map((found) => found.toSorted())).toEqual([
        [...both, ['c']],
        [...both, ['c']],
        [['c']],
        both,
        [...both, ['c']],
        both,
      ]);
    },
  );

  it('resolves the node of the first series only, as long as the nodes are the same', () => {
    const [nodes, known, kept] = [new Nodes(), new SeriesCache(), new RateTable()];
    const answer = ['a', 'b', 'c'].flatMap((node) => [device(node, 'eth0', '1'), device(node, 'eth1', '2')]);
    const [before, after] = [{}, {}];
    const asked = Array.from({ length: 5 }, (_, pass) => {
      expect(kept.next(pass < 3 ? before : after)).toBe(kept);
      nodes.asked = 0;
      const found = decoderOf(nodes, kept);
      readBytes(answer, found, known);
      found.end();
      return nodes.asked;
    });
    expect(asked).toEqual([3, 3, 1, 3, 1]);
  });

  it('reads series that return after they were missing at the end of an answer', () => {
    const [known, kept] = [new SeriesCache(), new RateTable()];
    const whole = [device('a', 'eth0', '1'), device('a', 'eth1', '2'), device('b', 'eth0', '3')];
    // The place of a series is known from the second answer on.
    const rates = [whole, whole, whole.slice(0, 1), whole].map((answer) => {
      const found = decoderOf(new Nodes(), kept);
      readBytes(answer, found, known);
      found.end();
      return [...found.nodes].map(([name, { devices }]) => [name, ...[...devices.values()].map(({ rate }) => rate)]);
    });
    const all = [
      ['a', 1, 2],
      ['b', 3],
    ];
    expect(rates).toEqual([all, all, [['a', 1]], all]);
  });

  it('does not confuse a device with another whose name it is a prefix of', () => {
    const known = new SeriesCache();
    readBytes([device('a', 'eth0', '1'), device('a', 'eth1', '1')], decoderOf(new Nodes()), known);
    const found = decoderOf(new Nodes());
    readBytes([device('a', 'eth0', '1'), device('a', 'eth10', '5')], found, known);
    expect([...(found.nodes.get('a')?.devices.keys() ?? [])]).toEqual(['eth0', 'eth10']);
  });

  it('knows all series if the buffer of the cache has to grow', () => {
    const known = new SeriesCache();
    const many = Array.from({ length: 5_000 }, (_, n) => device('a', `eth${n}`, '1', { cluster: 'x'.repeat(40) }));
    readBytes(many, decoderOf(new Nodes()), known);
    const found = decoderOf(new Nodes());
    expect(readBytes(many, found, known)).toBe(1);
    expect(found.nodes.get('a')?.devices.size).toBe(5_000);
  });
});
