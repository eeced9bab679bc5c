import { describe, expect, it } from 'vitest';
import { LEVELS } from '../levels.ts';
import { LONG_LEVELS, OF_ALL } from '../longLevels.ts';
import type { Change } from './base.ts';
import { explain, neededBy } from './needed.ts';

const ORDINARY = LEVELS.filter(({ name, phase }) => name !== 'docs' && phase !== 2).map(({ name }) => name);
const OF_DOCUMENTS = ['format', 'shell', 'generated', 'docs'];
const ALL_LONG = LONG_LEVELS.map(({ name }) => name);

const BASE = { commit: '0123456789abcdef', from: 'CI_BASE' };
const change = (files: readonly string[] | undefined): Change =>
  files === undefined ? { unknown: 'x' } : { base: BASE, files };

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
    {
      why: 'Simulations run what their tests import, wherever it is',
      files: ['src/connectivity/protocol/evaluation.ts', 'src/api/trafficwatch/spec/verdict.ts'],
      long: ['localise', 'verdict'],
    },
    {
      why: 'What all stacks go through has simulated lives, failing watches, real kills, and hostile objects',
      files: ['src/runtime/cache/reflector.ts'],
      long: ['stack-lives', 'cache-chaos', 'kills', 'hostile'],
    },
    {
      why: 'The steps of a demo have no other test with a cluster',
      files: ['test/demo/steps.ts'],
      long: ['opensdn'],
    },
    { why: 'Manifests of OLM are applied in a cluster', files: ['deploy/olm/subscription.yaml'], long: ['olm'] },
    { why: 'A clock of the soaks is of theirs', files: ['test/harness/jumpClock.ts'], long: ['soaks'] },
    { why: 'A verdict is about a capacity', files: ['src/usage/evaluate/capacity.ts'], long: ['verdict'] },
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
    {
      why: 'Rates are evaluated over random samples',
      files: ['src/usage/pass/queries.ts'],
      long: ['slopes'],
    },
    { why: 'A long test that changes runs itself', files: ['test/integration/observeAudit.test.ts'], long: ['soaks'] },
    {
      why: 'A unit test next to the code that a long level needs is no part of that level',
      files: ['src/controllers/trafficstack/decide/component.test.ts'],
      long: [],
    },
    { why: 'A folder is not its neighbour with a longer name', files: ['src/runtime/caches/x.ts'], long: [] },
    { why: 'Other code needs no long level', files: ['src/weights/zone/published.ts', 'README.md'], long: [] },
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
      why: 'A chart renders each of its templates, and the checkout of the image has its own pages',
      files: ['README.md', 'charts/traffic-operator/templates/rights.md'],
      long: [],
    },
    { why: 'A script among documents is code', files: ['docs/stack.md', 'docs/plot.ts'], long: [] },
    { why: 'What a test reads is no document', files: ['test/integration/answers.md'], long: [] },
    {
      why: 'A record is the base of later changes: it is no document',
      files: ['.ci/verified.json', 'docs/reliability.md'],
      long: [],
    },
    ...OF_ALL.map((file) => ({ why: `All depend on ${file}`, files: [file.replace(/\/$/, '/x.ts')], long: ALL_LONG })),
    { why: 'A test of the runner runs no other', files: ['scripts/test/levels.test.ts'], long: [] },
  ])('$why', ({ files, long, levels = [...ORDINARY, ...long] }) => {
    const needed = neededBy(() => change(files));
    expect(needed.levels).toEqual(levels);
    expect(needed.long.map(({ name }) => name)).toEqual(long);
    expect(needed.leftOut.map(({ name }) => name)).toEqual(ALL_LONG.filter((name) => !long.includes(name)));
  });

  it.each(['package-lock.json', 'vitest.config.ts', '.ci/run', 'scripts/test/run/runLevel.ts'])(
    'are all long ones for %s',
    (file) => {
      expect(neededBy(() => change([file])).long.map(({ name }) => name)).toEqual(ALL_LONG);
    },
  );

  it('exist', () => expect(LEVELS.map(({ name }) => name)).toEqual(expect.arrayContaining(OF_DOCUMENTS)));
});

describe('each level by its own base', () => {
  it('is needed if it passed last before its files changed', () => {
    const needed = neededBy((level) => change(level === 'kills' ? ['src/runtime/apply/x.ts'] : ['src/other.ts']));
    expect(needed.levels).toEqual([...ORDINARY, 'kills']);
  });

  it('is needed for no record, also where documents alone have changed for the others', () => {
    const needed = neededBy((level) => change(level === 'soaks' ? undefined : ['README.md']));
    expect(needed.levels).toEqual([...OF_DOCUMENTS, 'soaks']);
  });

  it('is an ordinary one if code has changed for one of those', () => {
    const needed = neededBy((level) => change(level === 'chart' ? ['src/other.ts'] : ['README.md']));
    expect(needed.levels).toEqual(ORDINARY);
  });
});

describe('the explanation', () => {
  const linesOf = (files: readonly string[] | undefined): string[] =>
    explain(neededBy(() => change(files))).split('\n');

  it('names the file that needs a long level, and the paths without a change', () => {
    const lines = linesOf(['src/runtime/cache/store.ts']);
    expect(lines).toContain('runs: cache-chaos, for src/runtime/cache/store.ts');
    expect(lines).toContain('left out: localise, no change in what its tests import since 0123456789ab (CI_BASE)');
  });

  it('says that documents alone have changed, or why a change is unknown', () => {
    expect(linesOf(['README.md'])[0]).toMatch(/^left out: lint .*; documents alone have changed/);
    expect(linesOf(undefined)).toContain('runs: localise, for an unknown change: x');
  });
});
