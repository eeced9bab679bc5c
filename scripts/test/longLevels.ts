/** A level that takes minutes and whose outcome only a change of a few folders can alter. */
export interface LongLevel {
  readonly name: string;
  /** What it does beyond the ordinary levels, and why that is not needed for every change. */
  readonly why: string;
  /** Files, and folders with a slash at the end: a change of one of them, or of a test that runs, needs the level. */
  readonly paths: readonly string[];
  readonly runs: {
    /** The ordinary level whose set-up and requirements it has. */
    readonly level: 'unit' | 'integration' | 'faults' | 'e2e';
    /** The vitest project, if it has another name than the level. */
    readonly project?: string;
    /** Test files, and folders of them with a slash at the end. */
    readonly tests: readonly string[];
  };
  /** Variables besides FULL_SAMPLES=1, which simulations and property tests read (src/runtime/testing/sampleSize.ts). */
  readonly env?: Readonly<Record<string, string>>;
}

/** `make test-long` runs all of them; `.ci/run` those that the change touches (scripts/test/change.ts). */
export const LONG_LEVELS: readonly LongLevel[] = [
  {
    name: 'localise',
    why: 'The full replays and simulations of faults are pure functions of the code that locates a fault.',
    paths: ['src/connectivity/localise/', 'src/connectivity/assign/', 'src/controllers/connectivitycheck/decide/'],
    runs: {
      level: 'unit',
      tests: ['src/connectivity/localise/', 'src/controllers/connectivitycheck/decide/findings/loss.test.ts'],
    },
  },
  {
    name: 'verdict',
    why: 'The simulated days of noise are pure functions of the decision and of the percent that it compares.',
    paths: ['src/controllers/trafficwatch/decide/', 'src/usage/evaluate/'],
    runs: { level: 'unit', tests: ['src/controllers/trafficwatch/decide/verdict/simulation.test.ts'] },
  },
  {
    name: 'stack-lives',
    why: 'The full number of simulated lives of stacks explores only the decisions about stacks.',
    paths: ['src/controllers/trafficstack/'],
    runs: {
      level: 'unit',
      tests: [
        'src/controllers/trafficstack/decide/lifecycle.property.test.ts',
        'src/controllers/trafficstack/rollback.property.test.ts',
      ],
    },
  },
  {
    name: 'cache-chaos',
    why: 'The full number of random failures of a watch explores only the caches.',
    paths: ['src/runtime/cache/'],
    runs: { level: 'unit', tests: ['src/runtime/cache/reflector/chaos.test.ts'] },
  },
  {
    name: 'kills',
    why: 'The level faults kills a dozen leaders while stacks change; a hundred only find rarer moments between two writes.',
    paths: [
      ...[
        'src/controllers/trafficstack/',
        'src/runtime/apply/',
        'src/runtime/leaderElection/',
        'src/runtime/objectSet/',
      ],
      ...['test/integration/stacks/judge/', 'test/integration/stacks/lives.ts', 'test/integration/stacks/replicas.ts'],
    ],
    runs: { level: 'faults', tests: ['test/integration/stacks/kills.test.ts'] },
    env: { STACK_KILLS: '100' },
  },
  {
    name: 'opensdn',
    why: 'OpenSDN on six nodes shows the largest stack; e2e has smaller stacks with the same steps.',
    paths: [
      ...['src/api/trafficstack/', 'src/controllers/trafficstack/', 'src/runtime/objectSet/'],
      ...['deploy/samples/opensdn.yaml', 'test/demo/stack/', 'test/lab/'],
    ],
    runs: { level: 'e2e', project: 'opensdn', tests: ['test/e2e/stackDemo.test.ts'] },
  },
  {
    name: 'soaks',
    why: 'Ten minutes of what integration does in one or two: a watch in mode Observe, and stores that are away.',
    paths: ['src/controllers/trafficwatch/act/', 'src/connectivity/server/auth/', 'src/connectivity/server/store/'],
    runs: {
      level: 'integration',
      tests: ['test/integration/observeAudit.test.ts', 'test/integration/connectivity/stores.test.ts'],
    },
    env: { OBSERVE_MINUTES: '10', STORE_OUTAGE_SECONDS: '600' },
  },
];

/** Whether a file is one of these paths, or in a folder of them. */
export function isIn(file: string, paths: readonly string[]): boolean {
  return paths.some((path) => (path.endsWith('/') ? file.startsWith(path) : file === path));
}
