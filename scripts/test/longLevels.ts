import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { valueImports } from './valueImports.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A level that takes minutes and whose outcome only a change of a few folders can alter. */
export interface LongLevel {
  readonly name: string;
  /** Its additional checks, and the reason why they are not needed for every change. */
  readonly why: string;
  /**
   * Files, and folders with a slash at the end: a change of one of them, or of a test that runs, needs the level. Without them it is a change of
   * a file that its tests import: the outcome of a simulation depends on nothing else.
   */
  readonly paths?: readonly string[];
  readonly runs: {
    /** The ordinary level whose set-up and requirements it has. */
    readonly level: 'unit' | 'integration' | 'faults' | 'e2e';
    /** The vitest project, if it has another name than the level. */
    readonly project?: string;
    /** Families of programs that test/lab/build.sh builds, besides the families of the ordinary level. */
    readonly builds?: readonly string[];
    /** Test files, and folders of them with a slash at the end. */
    readonly tests: readonly string[];
  };
  /** Variables besides FULL_SAMPLES=1, which simulations and property tests read (src/runtime/testing/sampleSize.ts). */
  readonly env?: Readonly<Record<string, string>>;
}

/** How levels are chosen, built and run: a wrong line here may keep any long level from testing anything. */
export const OF_ALL: readonly string[] = [
  ...['package.json', 'package-lock.json', 'vitest.config.ts', 'Makefile', '.ci/run'],
  ...['scripts/test.ts', 'scripts/test/', 'scripts/build.ts', 'scripts/build/', 'src/runtime/testing/sampleSize.ts'],
];

/** `make test-long` runs all of them; `.ci/run` those that the change touches (scripts/test/change.ts). */
export const LONG_LEVELS: readonly LongLevel[] = [
  {
    name: 'localise',
    why: 'The full replays and simulations of faults are pure functions of the code that locates a fault.',
    runs: {
      level: 'unit',
      tests: ['src/connectivity/localise/', 'src/controllers/connectivitycheck/decide/findings/loss.test.ts'],
    },
  },
  {
    name: 'verdict',
    why: 'The simulated days of noise are pure functions of the decision and of the percent that it compares.',
    runs: { level: 'unit', tests: ['src/controllers/trafficwatch/decide/verdict/simulation.test.ts'] },
  },
  {
    name: 'stack-lives',
    why: 'The full number of simulated lives of stacks, and of expressions, explores only the decisions about stacks.',
    runs: {
      level: 'unit',
      tests: [
        'src/controllers/trafficstack/decide/lifecycle.property.test.ts',
        'src/controllers/trafficstack/rollback.property.test.ts',
        'src/controllers/trafficstack/expression/budget.property.test.ts',
      ],
    },
  },
  {
    name: 'cache-chaos',
    why: 'The full number of random failures of a watch explores only the caches.',
    runs: { level: 'unit', tests: ['src/runtime/cache/reflector/chaos.test.ts'] },
  },
  {
    name: 'kills',
    // Not the harness, nor what only begins and ends a process: those dozen leaders show whether it works.
    why: 'The level faults kills a dozen leaders while stacks change; a hundred only find rarer moments between two writes.',
    paths: [
      ...['src/api/trafficstack/', 'src/controllers/trafficstack/', 'test/integration/stacks/'],
      ...['apply', 'cache', 'client', 'controller', 'leaderElection', 'manager', 'objectSet', 'status'].map(
        (folder) => `src/runtime/${folder}/`,
      ),
    ],
    runs: { level: 'faults', tests: ['test/integration/stacks/kills.test.ts'] },
    env: { STACK_KILLS: '100' },
  },
  {
    name: 'hostile',
    why: 'The level faults has 600 hostile TrafficWatches and 450 other objects of one namespace; 10,000 and 7,500 only take longer.',
    paths: [
      ...['src/controllers/trafficwatch/observe/', 'src/controllers/trafficwatch/reconcile.ts'],
      ...['cache', 'controller', 'status'].map((folder) => `src/runtime/${folder}/`),
    ],
    runs: { level: 'faults', tests: ['test/faults/hostileNamespace.test.ts'] },
    env: { HOSTILE_OBJECTS: '10000' },
  },
  {
    name: 'opensdn',
    // Not the chart and the rest of the runtime, which change often: e2e has them in a cluster, with smaller stacks.
    why: 'OpenSDN on six nodes shows the largest stack; e2e has smaller stacks with the same steps.',
    paths: [
      ...['src/api/trafficstack/', 'src/controllers/trafficstack/', 'src/runtime/objectSet/'],
      ...['deploy/samples/opensdn.yaml', 'test/demo/', 'test/e2e/hostState.ts', 'test/lab/', 'test/scenario/'],
    ],
    runs: { level: 'e2e', project: 'e2e-long', tests: ['test/e2e/stackDemo.test.ts'] },
  },
  {
    name: 'olm',
    // Not the bundle, which changes with the chart: integration has it, from the catalog to the removal.
    why: 'Integration installs, upgrades and removes the bundle by the real OLM; here OLM, the catalog and the operator are pods, made by make.',
    paths: [
      ...['deploy/olm/', 'scripts/olm/', 'scripts/cluster.sh', 'test/image/', 'test/lab/modules/olm/'],
      ...['test/lab/olm.sh', 'test/scenario/olm.ts', 'test/harness/nextBundle.ts'],
    ],
    runs: { level: 'e2e', project: 'e2e-long', builds: ['opm', 'olm'], tests: ['test/e2e/olm.test.ts'] },
  },
  {
    name: 'slopes',
    why: 'Three times as many random samples, others in each run: only the queries and what reads their answers can alter the outcome.',
    paths: ['src/usage/pass/', 'src/usage/series/'],
    runs: { level: 'integration', tests: ['test/integration/slope.test.ts'] },
  },
  {
    name: 'placement-terms',
    why: 'Ten thousand pods, of which integration has 200: only the expressions and their interpreter can alter what a pod gets.',
    paths: ['src/placement/policy.ts', 'src/placement/podTerms.ts', 'src/placement/testing/'],
    runs: { level: 'integration', tests: ['test/integration/placementTerms.test.ts'] },
  },
  {
    name: 'soaks',
    // Not what decides about a TrafficWatch: in mode Observe all passes are alike, and half a minute has thirty of them.
    why: 'Ten minutes of what integration does in one or two: a watch in mode Observe, and stores that are away.',
    paths: [
      ...['src/controllers/trafficwatch/act/', 'src/controllers/trafficwatch/reconcile.ts', 'src/runtime/client/'],
      ...['src/connectivity/server/auth/', 'src/connectivity/server/store/', 'test/harness/jumpClock.ts'],
      ...['authWorld', 'world'].map((name) => `test/integration/connectivity/${name}.ts`),
      'test/integration/connectedPlane.ts',
    ],
    runs: {
      level: 'integration',
      tests: ['test/integration/observeAudit.test.ts', 'test/integration/connectivity/stores.test.ts'],
    },
    env: { OBSERVE_MINUTES: '10', STORE_OUTAGE_SECONDS: '600' },
  },
];

/** The files and folders whose change needs the level, besides its tests. */
export function pathsOf({ paths, runs }: LongLevel): readonly string[] {
  if (paths !== undefined) return paths;
  const tests = runs.tests.flatMap((test) => globSync(test.replace(/\/$/, '/**/*.test.ts'), { cwd: ROOT }));
  return [...new Set(tests.flatMap((test) => [...valueImports(ROOT, test)]))];
}

/** Whether a file is one of these paths, or in a folder of them. */
export function isIn(file: string, paths: readonly string[]): boolean {
  return paths.some((path) => (path.endsWith('/') ? file.startsWith(path) : file === path));
}
