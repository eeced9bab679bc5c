import { expect, it } from 'vitest';
import { previousVersion, skipRange } from './upgrade.ts';

it('names the release before as the version that is replaced', () => {
  const changelog = '## Unreleased\n## 0.3.0 - 2027-01-01\n### Added\n## [0.2.0]\n## 0.1.0\n';
  expect(['0.4.0', '0.3.0', '0.2.0', '0.1.0'].map((version) => previousVersion(version, changelog))).toEqual([
    '0.3.0',
    '0.2.0',
    '0.1.0',
    undefined,
  ]);
});

it('replaces none in a first release', () => {
  expect(previousVersion('0.1.0', '## Unreleased\n')).toBeUndefined();
  expect(skipRange('0.1.0')).toBe('<0.1.0');
});
