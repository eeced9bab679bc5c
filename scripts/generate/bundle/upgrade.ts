import { readFileSync } from 'node:fs';

const CHANGELOG = new URL('../../../CHANGELOG.md', import.meta.url);
/** A heading of a release, such as `## 0.1.0 - 2026-11-26`. */
const RELEASE = /^## \[?v?(\d+\.\d+\.\d+[^\s\]]*)/gm;

/** The release before this version in the changelog, newest first; undefined for the first release. */
export function previousVersion(version: string, changelog = readFileSync(CHANGELOG, 'utf8')): string | undefined {
  const releases = [...changelog.matchAll(RELEASE)].map(([, release]) => release);
  const earlier = releases.slice(releases.indexOf(version) + 1);
  return earlier[0];
}

/**
 * The range of versions that are upgraded to this one directly, without the releases in between: all earlier ones. The
 * labels and the status of every version are read by every later one.
 */
export function skipRange(version: string): string {
  return `<${version}`;
}
