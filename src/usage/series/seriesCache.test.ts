import { describe, expect, it } from 'vitest';
import { sampleText } from './seriesCache.ts';

function read(text: string): string | undefined {
  const bytes = Buffer.from(`before${text}after`);
  return sampleText(bytes, 6, 6 + Buffer.byteLength(text));
}

describe('sampleText', () => {
  it.each([
    ['12.5', ',"value":[1763800000.123,"12.5"]}'],
    ['NaN', ',"value":[1763800000,"NaN"]}'],
    ['1.5e+09', ',"value":[0,"1.5e+09"]}'],
    ['', ',"value":[1,""]}'],
    ['7"', ',"value":[1,"7""]}'],
  ])('is the text between the quotes: %s', (expected, text) => {
    expect(read(text)).toBe(expected);
  });

  it.each([
    ['another name', ',"valve":[1,"7"]}'],
    ['a histogram', ',"histogram":[1,{"count":"7"}]}'],
    ['white space', ',"value": [1,"7"]}'],
    ['a time in another form', ',"value":[1e9,"7"]}'],
    ['no time', ',"value":["7"]}'],
    ['a number without quotes', ',"value":[1,7]}'],
    ['one quote only', ',"value":[1,"]}'],
    ['more than a number', ',"value":[1,"7","8"],"more":1}'],
    ['another end', ',"value":[1,"7"] }'],
    ['something behind it', ',"value":[1,"7"]},'],
    ['nothing', ''],
  ])('is undefined for %s', (_what, text) => {
    expect(read(text)).toBeUndefined();
  });
});
