import { docTests } from './docTests.ts';
import { LONG_LEVELS, type LongLevel } from './longLevels.ts';
import { needsGo, needsImage, needsLab, needsLinux, needsPython, needsShellcheck } from './requirements.ts';

/** One level of tests. */
export interface Level {
  readonly name: string;
  /**
   * Families of programs that test/lab/build.sh builds before the level; for levels that wait, while the first one
   * runs.
   */
  readonly builds?: readonly string[];
  /** Run in order; the first failure ends the level. If a command counts tests, it is the last one. */
  readonly commands?: readonly (readonly string[])[];
  /** Vitest projects and paths: their JSON report counts the tests. Without it the level counts as one test. */
  readonly vitest?: { readonly projects: readonly string[]; readonly paths: readonly string[] };
  /** Variables of its commands in addition to the variables of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Runs only if requested by name: it takes minutes, or it is a part of other levels. */
  readonly onRequest?: true;
  /**
   * Mostly waits, for servers or for a cluster, so that CPU-bound levels can run in parallel. Servers have deadlines, and a cluster has
   * more: see the priorities in runLevel.ts.
   */
  readonly waits?: 'for servers' | 'for cluster';
  /**
   * Levels of a phase start when all levels of earlier phases have ended; without a phase, at once. In phase 1: their deadlines are too tight
   * next to a cluster, or a busy machine would change their counts. In phase 2: the long levels.
   */
  readonly phase?: 1 | 2;
  /** The reason why the level cannot run on this machine; undefined if it can. */
  readonly unmet?: () => string | undefined;
}

function builtByLab(...builds: readonly string[]): Pick<Level, 'builds' | 'unmet'> {
  return { builds, unmet: () => needsLinux() ?? needsGo(builds) };
}

const INTEGRATION = [
  'k8s',
  'etcd',
  'helm',
  'node_exporter',
  'prometheus',
  'victoriametrics',
  'thanos',
  'external-dns',
  'coredns',
  'opm',
  'olm',
];

/** The cache key is the text of a file, the options and the version of prettier. */
const PRETTIER_CACHE = ['--cache', '--cache-strategy', 'content', '--cache-location', '.cache/prettier'];

/** From quick levels without requirements to levels that need a cluster. */
const SHORT_LEVELS: readonly Level[] = [
  { name: 'format', commands: [['prettier', '--check', '--log-level', 'warn', ...PRETTIER_CACHE, '.']] },
  // With the errors of the TypeScript compiler: the rules that need types load the same program.
  { name: 'lint', commands: [['node', 'scripts/wording.ts'], ['oxlint']] },
  { name: 'layers', commands: [['depcruise', '--config', '.dependency-cruiser.mjs', 'src', 'test']] },
  { name: 'shell', commands: [['scripts/test/shellcheck.sh']], unmet: needsShellcheck },
  {
    name: 'generated',
    commands: [['node', 'scripts/generate.ts', '--check']],
    // helm renders the manifests from the chart: the pinned helm, or the one in the variable HELM.
    unmet: () => (process.env.HELM === undefined ? needsGo(['helm']) : undefined),
  },
  { name: 'unit', waits: 'for servers', vitest: { projects: ['unit'], paths: [] } },
  // The scripts, the lab and the benchmarks: a fifth of the CPU time of all unit tests, and no part of the quick loop.
  { name: 'tools', waits: 'for servers', vitest: { projects: ['tools'], paths: [] } },
  {
    name: 'integration',
    builds: INTEGRATION,
    commands: [['test/lab/moto.sh']],
    unmet: () => needsLinux() ?? needsGo(INTEGRATION) ?? needsPython(),
    waits: 'for servers',
    vitest: { projects: ['integration'], paths: [] },
  },
  {
    name: 'faults',
    onRequest: true,
    phase: 1,
    waits: 'for servers',
    ...builtByLab('k8s', 'etcd', 'node_exporter', 'prometheus', 'toxiproxy'),
    vitest: { projects: ['faults'], paths: [] },
  },
  {
    name: 'chart',
    ...builtByLab('k8s', 'etcd', 'prometheus', 'helm', 'helm3', 'kubeconform', 'opm'),
    vitest: { projects: ['chart'], paths: [] },
  },
  {
    name: 'image',
    commands: [['test/image/build.sh']],
    vitest: { projects: ['image'], paths: [] },
    unmet: needsImage,
  },
  {
    name: 'bench',
    onRequest: true,
    // Its goals are counts, which the faults do not change.
    phase: 1,
    ...builtByLab('k8s', 'etcd', 'prometheus'),
    commands: [
      ['node', 'scripts/build.ts'],
      ['node', 'test/bench/main.ts', '--quick'],
    ],
  },
  {
    name: 'e2e',
    builds: ['k8s', 'etcd', 'helm', 'node_exporter', 'prometheus', 'containerd', 'k8s-node', 'coredns', 'pause'],
    commands: [['test/lab/prerequisites.sh']],
    waits: 'for cluster',
    vitest: { projects: ['e2e'], paths: [] },
    unmet: needsLab,
  },
  {
    name: 'docs',
    onRequest: true,
    builds: INTEGRATION,
    commands: [['test/lab/moto.sh']],
    unmet: () => needsLinux() ?? needsGo(INTEGRATION) ?? needsPython(),
    waits: 'for servers',
    vitest: {
      projects: ['unit', 'tools', 'integration', 'chart'],
      get paths() {
        return docTests();
      },
    },
  },
];

function levelOf({ name, runs, env }: LongLevel): Level {
  const { level, project = level, tests } = runs;
  const like = SHORT_LEVELS.find((each) => each.name === level);
  const builds = [...(like?.builds ?? []), ...(runs.builds ?? [])];
  const vitest = { projects: [project], paths: tests };
  return { ...like, name, builds, onRequest: true, phase: 2, vitest, env: { FULL_SAMPLES: '1', ...env } };
}

/** All levels, in the order of the summary. */
export const LEVELS: readonly Level[] = [...SHORT_LEVELS, ...LONG_LEVELS.map(levelOf)];
