import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { annotated } from '../../nodes/statedCapacity.ts';
import { formatCapacity, parseCapacity, parseStated } from './capacity.ts';

describe('parseCapacity', () => {
  it.each([
    ['25Gbit', 3.125e9, 'the form that the documentation shows'],
    ['2.5Gbit', 312.5e6, 'decimals, as in 2.5GBASE-T'],
    ['100mbit', 12.5e6, 'tc writes units in lower case'],
    ['1TBIT', 125e9, 'case does not matter'],
    ['800 kbit', 1e5, 'a space before the unit'],
    ['8bit', 1, 'the unit without a prefix'],
    ['10Gbit/s', 1.25e9, 'an optional /s'],
    ['  1Gbit\n', 125e6, 'white space from a file or a heredoc'],
  ])('%j is %d B/s: %s', (text, bytesPerSecond) => {
    expect(parseCapacity(text)).toEqual({ bytesPerSecond });
  });

  it.each([
    ['', 'nothing'],
    ['25', 'no unit: could be bits or bytes'],
    ['Gbit', 'no number'],
    ['0Gbit', 'zero: the percent would be undefined'],
    ['-1Gbit', 'negative'],
    ['1e3Mbit', 'an exponent'],
    ['0x10bit', 'hexadecimal'],
    ['NaNbit', 'not a number'],
    ['InfinityGbit', 'infinite'],
    [`${'9'.repeat(400)}Tbit`, 'a number that overflows'],
    ['10Gbps', 'bps is bytes for tc, and bits for most people'],
    ['10GiB', 'bytes'],
    ['25Gbit 25Gbit', 'twice'],
  ])('rejects %j: %s', (text) => {
    const { problem } = parseCapacity(text) as { problem: string };
    expect(problem).toContain(JSON.stringify(text).slice(0, 40));
    expect(problem).toContain('bit, kbit, Mbit, Gbit, Tbit');
    expect(problem.length).toBeLessThan(250);
  });

  it('gives a finite number above 0 or a problem, for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9.]{0,6} ?[kmgtKMGT]?[bB]it(\/s)?$/)), (text) => {
        const parsed = parseCapacity(text);
        if ('problem' in parsed) return parsed.problem.length > 0;
        return Number.isFinite(parsed.bytesPerSecond) && parsed.bytesPerSecond > 0;
      }),
    );
  });

  it('converts each unit', () => {
    const units = fc.constantFrom(['bit', 1], ['Kbit', 1e3], ['mbit', 1e6], ['Gbit', 1e9], ['tbit', 1e12] as const);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), units, (amount, [unit, bits]) => {
        expect(parseCapacity(`${amount}${unit}`)).toEqual({ bytesPerSecond: (amount * bits) / 8 });
      }),
    );
  });
});

describe('parseStated', () => {
  const label = (text: string) => parseStated({ source: 'Label', key: 'a.b/c', text });

  it.each([
    ['25000', 3.125e9, 'Mbit/s, as Karpenter writes it'],
    ['0.5', 62_500, 'a fraction of a Mbit/s'],
    ['25Gbit', 3.125e9, 'with a unit'],
  ])('reads the label %j as %d B/s: %s', (text, bytesPerSecond) => {
    expect(label(text)).toEqual({ bytesPerSecond });
  });

  it.each(['', '0', '-1', '1e3', 'fast', '25Gbps'])(
    'rejects the label %j: names it, its value and the forms',
    (text) => {
      const { problem } = label(text) as { problem: string };
      expect(problem).toContain(
        `the capacity label a.b/c=${JSON.stringify(text)} is invalid: it must be a decimal number of Mbit/s`,
      );
      expect(problem).toContain('bit, kbit, Mbit, Gbit, Tbit');
    },
  );

  it('reads the annotation with its unit only', () => {
    expect(parseStated(annotated('25Gbit'))).toEqual({ bytesPerSecond: 3.125e9 });
    expect(parseStated(annotated('25000'))).toMatchObject({
      problem: expect.stringMatching(/^the capacity annotation "25000" is invalid: /) as string,
    });
  });
});

describe('formatCapacity', () => {
  it.each([
    [2.5e9, '20Gbit'],
    [312.5e6, '2.5Gbit'],
    [125e9, '1Tbit'],
    [12.5e6, '100Mbit'],
    [1e9 / 3, '2.67Gbit'],
    [0.05, '0.4bit'],
  ])('%d B/s are %s', (bytesPerSecond, text) => {
    expect(formatCapacity(bytesPerSecond)).toBe(text);
  });

  it('gives a text that parses to the same value within half a percent', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.2, max: 1e15, noNaN: true }), (bytesPerSecond) => {
        const read = parseCapacity(formatCapacity(bytesPerSecond));
        expect('bytesPerSecond' in read && Math.abs(read.bytesPerSecond / bytesPerSecond - 1)).toBeLessThan(0.005);
      }),
    );
  });
});
