import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { changedSince, changesOf } from './base.ts';
import { git } from './git.ts';

describe('the base', () => {
  let root: string;
  const run = (...args: string[]): string =>
    git(root, '-c', 'user.name=x', '-c', 'user.email=x@example.com', '-c', 'commit.gpgsign=false', ...args);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  /** Commits everything, and returns the commit. */
  const commit = (): string => {
    run('add', '--all');
    run('commit', '--quiet', '--allow-empty', '--message=x');
    return run('rev-parse', 'HEAD');
  };
  const record = (of: string | undefined, level = 'kills'): void =>
    write('.ci/verified.json', JSON.stringify({ [level]: { commit: of, date: '2026-01-31', passed: 1 } }));
  /** The base of the level kills, or why there is none. */
  const baseOf = (of: string, named: string): unknown => {
    const change = changesOf(of, named)('kills');
    return 'base' in change ? change.base : change;
  };

  beforeEach(() => {
    // A git hook sets these variables for its own repository.
    for (const name of ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE']) vi.stubEnv(name, undefined);
    root = mkdtempSync(join(tmpdir(), 'change-'));
    run('init', '--quiet');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('is CI_BASE, else the merge base if HEAD is ahead of that, else the recorded commit', () => {
    const [first, second] = [commit(), commit()];
    record(first);
    const recorded = commit();
    const last = commit();
    run('update-ref', 'refs/remotes/origin/main', second);
    expect(baseOf(root, recorded)).toEqual({ commit: recorded, from: 'CI_BASE' });
    expect(baseOf(root, '')).toEqual({ commit: second, from: 'the merge base with origin/main' });
    run('update-ref', 'refs/remotes/origin/main', last);
    expect(baseOf(root, '')).toEqual({ commit: first, from: '.ci/verified.json of the parent of HEAD' });
  });

  it('is not what the last commit or an edit says of itself', () => {
    const first = commit();
    record(first);
    commit();
    write('code.ts', 'wrong');
    const second = commit();
    record(second);
    expect(baseOf(root, '')).toHaveProperty('commit', first);
    commit();
    expect(baseOf(root, '')).toHaveProperty('commit', first);
    write('README.md', 'x');
    commit();
    expect(baseOf(root, '')).toHaveProperty('commit', second);
  });

  it.each(['HEAD', 'HEAD~1', 'main', '0123456789ab', undefined])(
    'is no recorded %s, which another commit has later',
    (of) => {
      record(of);
      commit();
      commit();
      expect(baseOf(root, '')).toHaveProperty('unknown', expect.stringContaining('names no commit'));
    },
  );

  it('is the commit recorded for the level, of which another level has none', () => {
    const first = commit();
    record(first);
    write('code.ts', 'x');
    commit();
    commit();
    const changeOf = changesOf(root, '');
    const base = { commit: first, from: '.ci/verified.json of the parent of HEAD' };
    expect(changeOf('kills')).toEqual({ base, files: ['.ci/verified.json', 'code.ts'] });
    expect(changeOf('soaks')).toHaveProperty('unknown', expect.stringContaining('no commit of soaks'));
  });

  it('is unknown without a readable record', () => {
    commit();
    expect(baseOf(root, '')).toHaveProperty('unknown', expect.stringContaining('no .ci/verified.json'));
    write('.ci/verified.json', '{ "commit":');
    commit();
    expect(baseOf(root, '')).toHaveProperty('unknown', expect.stringContaining('no .ci/verified.json'));
    commit();
    expect(baseOf(root, '')).toHaveProperty('unknown', expect.stringContaining('names no commit'));
  });

  it('is unknown where it is no ancestor or not there', () => {
    const first = commit();
    run('checkout', '--quiet', '--detach');
    const other = commit();
    run('checkout', '--quiet', first);
    for (const named of [other, '0'.repeat(40), 'no-such-name']) {
      expect(baseOf(root, named)).toEqual({ unknown: `${named} (CI_BASE) is no ancestor of HEAD in this clone` });
    }
  });

  it('is never HEAD itself, by which nothing would have changed', () => {
    commit();
    const head = commit();
    for (const named of ['HEAD', head, head.slice(0, 12)]) {
      expect(baseOf(root, named)).toEqual({ unknown: `${named} (CI_BASE) is HEAD itself` });
    }
    expect(baseOf(root, 'HEAD~1')).toHaveProperty('from', 'CI_BASE');
  });

  it('differs by files that are new, changed, gone and renamed, by both names, committed or not', () => {
    for (const name of ['changed', 'gone', 'before', 'same', 'edited', 'staged', 'removed']) write(name, `${name}\n`);
    write('.gitignore', 'ignored\n');
    const base = commit();
    for (const name of ['gone', 'before']) rmSync(join(root, name));
    write('after', 'before\n');
    write('changed', 'x\n');
    write('folder/new name', 'x\n');
    commit();
    const committed = ['after', 'before', 'changed', 'folder/new name', 'gone'];
    expect(changedSince(root, base)).toEqual(committed);
    for (const name of ['edited', 'staged', 'not added', 'ignored']) write(name, 'x\n');
    run('add', 'staged');
    rmSync(join(root, 'removed'));
    expect(changedSince(root, base)).toEqual([...committed, 'edited', 'not added', 'removed', 'staged'].sort());
  });
});
