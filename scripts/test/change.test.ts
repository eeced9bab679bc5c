import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { baseOf, changedSince, explain, neededBy } from './change.ts';
import { git } from './git.ts';
import { LEVELS } from './levels.ts';
import { LONG_LEVELS } from './longLevels.ts';

const ORDINARY = LEVELS.filter(({ name, phase }) => name !== 'docs' && phase !== 2).map(({ name }) => name);
const OF_DOCUMENTS = ['format', 'shell', 'generated', 'docs'];
const ALL_LONG = LONG_LEVELS.map(({ name }) => name);

interface Row {
  readonly why: string;
  readonly files: readonly string[] | undefined;
  readonly long: readonly string[];
  readonly levels?: readonly string[];
}

describe('the levels that a change needs', () => {
  it('always have faults and bench', () => {
    expect(ORDINARY).toEqual(expect.arrayContaining(['unit', 'integration', 'e2e', 'faults', 'bench']));
  });

  it.each<Row>([
    {
      why: 'A line of localise needs the full replays',
      files: ['src/connectivity/localise/faults/score.ts'],
      long: ['localise'],
    },
    { why: 'Assignments decide what localise sees', files: ['src/connectivity/assign/ring.ts'], long: ['localise'] },
    { why: 'A verdict is compared with the percent', files: ['src/usage/evaluate/percent.ts'], long: ['verdict'] },
    {
      why: 'The plan of a stack has simulated lives, real kills and OpenSDN',
      files: ['src/controllers/trafficstack/decide/plan.ts'],
      long: ['stack-lives', 'kills', 'opensdn'],
    },
    {
      why: 'Kills are of leaders',
      files: ['src/runtime/leaderElection/term.ts'],
      long: ['kills'],
    },
    { why: 'A long test that changes runs itself', files: ['test/integration/observeAudit.test.ts'], long: ['soaks'] },
    {
      why: 'A unit test beside the code that a long level needs is no part of that level',
      files: ['src/controllers/trafficstack/decide/component.test.ts'],
      long: [],
    },
    { why: 'A folder is not its neighbour with a longer name', files: ['src/runtime/caches/x.ts'], long: [] },
    { why: 'Other code needs no long level', files: ['src/nodes/notMeasurable.ts', 'README.md'], long: [] },
    {
      why: 'A chart is code, and its README a document',
      files: ['charts/traffic-operator/README.md', 'charts/traffic-operator/values.yaml'],
      long: [],
    },
    { why: 'LICENSE is a part of the image', files: ['LICENSE'], long: [] },
    { why: 'Nothing has changed since the base, but the levels may depend on the machine', files: [], long: [] },
    { why: 'Of an unknown change everything may be wrong', files: undefined, long: ALL_LONG },
    {
      why: 'Documents need what reads them',
      files: ['docs/stack.md', 'README.md', 'test/lab/README.md'],
      long: [],
      levels: OF_DOCUMENTS,
    },
    { why: 'Data of a page is a document', files: ['docs/performance/10000.json'], long: [], levels: OF_DOCUMENTS },
    {
      why: 'A record is written with its line in a document',
      files: ['.ci/verified.json', 'docs/reliability.md'],
      long: [],
      levels: OF_DOCUMENTS,
    },
  ])('$why', ({ files, long, levels = [...ORDINARY, ...long] }) => {
    const needed = neededBy(files);
    expect(needed.levels).toEqual(levels);
    expect(needed.long.map(({ name }) => name)).toEqual(long);
    expect(needed.leftOut.map(({ name }) => name)).toEqual(ALL_LONG.filter((name) => !long.includes(name)));
  });

  it('exist', () => expect(LEVELS.map(({ name }) => name)).toEqual(expect.arrayContaining(OF_DOCUMENTS)));
});

describe('the explanation', () => {
  const base = { commit: '0123456789abcdef', from: 'CI_BASE' };

  it('names the file that needs a long level, and the paths without a change', () => {
    const files = ['src/runtime/cache/store.ts'];
    const lines = explain(base, files, neededBy(files)).split('\n');
    expect(lines[0]).toBe('1 files have changed since 0123456789ab (CI_BASE)');
    expect(lines).toContain('  runs: cache-chaos, for src/runtime/cache/store.ts');
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^ {2}left out: localise, no change since 0123456789ab in src\/connectivity\/localise\/ .*/,
      ),
    );
  });

  it('says that documents alone have changed, or that the base is unknown', () => {
    expect(explain(base, ['README.md'], neededBy(['README.md']))).toMatch(
      /\n {2}left out: lint .*; documents alone have changed/,
    );
    expect(explain({ unknown: 'x' }, undefined, neededBy(undefined))).toMatch(/is unknown: x\. All long levels run\.$/);
  });
});

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
  const record = (of: string): void =>
    write('.ci/verified.json', JSON.stringify({ commit: of, date: '2026-01-31', passed: 1, failed: 0 }));

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
    const third = commit();
    run('update-ref', 'refs/remotes/origin/main', second);
    expect(baseOf(root, third)).toEqual({ commit: third, from: 'CI_BASE' });
    expect(baseOf(root, '')).toEqual({ commit: second, from: 'the merge base with origin/main' });
    run('update-ref', 'refs/remotes/origin/main', third);
    expect(baseOf(root, '')).toEqual({ commit: first, from: '.ci/verified.json' });
  });

  it('is unknown without a record, and where it is no ancestor or not there', () => {
    const first = commit();
    run('checkout', '--quiet', '--detach');
    const other = commit();
    run('checkout', '--quiet', first);
    expect(baseOf(root, '')).toHaveProperty('unknown', expect.stringContaining('no .ci/verified.json'));
    for (const named of [other, '0'.repeat(40), 'no-such-name']) {
      expect(baseOf(root, named)).toEqual({ unknown: `${named} (CI_BASE) is no ancestor of HEAD in this clone` });
    }
  });

  it('differs by files that are new, changed, gone and renamed, by both names, but not by what is not committed', () => {
    for (const name of ['changed', 'gone', 'before', 'same']) write(name, `${name}\n`);
    const base = commit();
    for (const name of ['gone', 'before']) rmSync(join(root, name));
    write('after', 'before\n');
    write('changed', 'x\n');
    write('folder/new name', 'x\n');
    commit();
    write('uncommitted', 'x\n');
    expect(changedSince(root, base).sort()).toEqual(['after', 'before', 'changed', 'folder/new name', 'gone']);
  });
});
