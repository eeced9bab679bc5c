import { describe, expect, it } from 'vitest';
import { parseSelectorText } from './targets.ts';

describe('parseSelectorText', () => {
  it.each<[string, object[]]>([
    ['app=web', [{ key: 'app', operator: 'In', values: ['web'] }]],
    ['app==web', [{ key: 'app', operator: 'In', values: ['web'] }]],
    ['app!=web', [{ key: 'app', operator: 'NotIn', values: ['web'] }]],
    ['app=', [{ key: 'app', operator: 'In', values: [''] }]],
    ['tier in (a, b)', [{ key: 'tier', operator: 'In', values: ['a', 'b'] }]],
    ['tier notin (a,b)', [{ key: 'tier', operator: 'NotIn', values: ['a', 'b'] }]],
    ['example.com/team', [{ key: 'example.com/team', operator: 'Exists' }]],
    ['!old', [{ key: 'old', operator: 'DoesNotExist' }]],
    [
      'app=web,tier in (a,b),!old',
      [
        { key: 'app', operator: 'In', values: ['web'] },
        { key: 'tier', operator: 'In', values: ['a', 'b'] },
        { key: 'old', operator: 'DoesNotExist' },
      ],
    ],
  ])('reads %s', (text, matchExpressions) => {
    expect(parseSelectorText(text)).toEqual({ matchExpressions });
  });

  it('reads 16 KiB, and nothing longer, which would fill the status', () => {
    const text = `a in (${'b'.repeat(16 * 1024 - 7)})`;
    expect(parseSelectorText(text)).toBeDefined();
    expect(parseSelectorText(`${text} `)).toBeUndefined();
    expect(parseSelectorText('a,'.repeat(500_000))).toBeUndefined();
  });

  it.each(['', ' , ', 'a b', 'a in (b))', 'a in ((b),c)', 'replicas>3', 'tier in (a', '=web', 'app=web,a b'])(
    'does not read %j, which must not become a selector of other pods',
    (text) => {
      expect(parseSelectorText(text)).toBeUndefined();
    },
  );
});
