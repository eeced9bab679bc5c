import { needsGo, needsImage, needsLab, needsLinux, needsShellcheck } from './requirements.ts';

/** One level of tests. */
export interface Level {
  readonly name: string;
  /** Families of programs that test/lab/build.sh makes before all else; of levels that wait, while the first one runs. */
  readonly builds?: readonly string[];
  /** Run in order; the first that fails ends the level. The last one is the one that counts tests, where any does. */
  readonly commands?: readonly (readonly string[])[];
  /** A vitest project or path: its JSON report counts the tests. Without it the level counts as one test. */
  readonly vitest?: { readonly project: string; readonly paths: readonly string[] };
  /** Takes minutes: runs only where it is asked for by name. */
  readonly long?: true;
  /**
   * Mostly waits, for servers or for a cluster of the machine, so that what others compute meanwhile costs it little; but
   * what it waits for has deadlines, so that it does not give way to others.
   */
  readonly waits?: 'for servers' | 'for cluster';
  /**
   * Begins when all others have ended: it demands what a deadline leaves no time for where a cluster runs, or counts what
   * a busy machine would change. Such levels go beside each other.
   */
  readonly last?: true;
  /** Says why the level cannot run on this machine; undefined when it can. */
  readonly unmet?: () => string | undefined;
}

function builtByLab(...builds: readonly string[]): Pick<Level, 'builds' | 'unmet'> {
  return { builds, unmet: () => needsLinux() ?? needsGo(builds) };
}

/** By the text of a file, the options and the version of prettier. */
const PRETTIER_CACHE = ['--cache', '--cache-strategy', 'content', '--cache-location', '.cache/prettier'];
const TSC_CACHE = ['--incremental', '--tsBuildInfoFile', '.cache/tsc.tsbuildinfo'];

/** From what is quick and needs nothing to what needs a cluster. */
export const LEVELS: readonly Level[] = [
  { name: 'format', commands: [['prettier', '--check', '--log-level', 'warn', ...PRETTIER_CACHE, '.']] },
  // Without ESLint's cache: it goes by the text of each file, but rules that know types depend on other files, too.
  { name: 'lint', commands: [['eslint', '.']] },
  { name: 'types', commands: [['tsc', '--noEmit', ...TSC_CACHE]] },
  { name: 'layers', commands: [['depcruise', '--config', '.dependency-cruiser.mjs', 'src', 'test']] },
  { name: 'shell', commands: [['scripts/test/shellcheck.sh']], unmet: needsShellcheck },
  {
    name: 'generated',
    commands: [['node', 'scripts/generate.ts', '--check']],
    // The manifests come from the chart, by helm: the pinned one, or the one that the variable names.
    unmet: () => (process.env.HELM === undefined ? needsGo(['helm']) : undefined),
  },
  { name: 'unit', waits: 'for servers', vitest: { project: 'unit', paths: [] } },
  {
    name: 'integration',
    ...builtByLab('k8s', 'etcd', 'helm', 'node_exporter', 'prometheus'),
    waits: 'for servers',
    vitest: { project: 'integration', paths: [] },
  },
  {
    name: 'faults',
    long: true,
    last: true,
    waits: 'for servers',
    ...builtByLab('k8s', 'etcd', 'node_exporter', 'prometheus', 'toxiproxy'),
    vitest: { project: 'faults', paths: [] },
  },
  {
    name: 'chart',
    ...builtByLab('k8s', 'etcd', 'prometheus', 'helm', 'helm3', 'kubeconform'),
    vitest: { project: 'chart', paths: [] },
  },
  {
    name: 'image',
    commands: [['test/image/build.sh']],
    vitest: { project: 'image', paths: [] },
    unmet: needsImage,
  },
  {
    name: 'bench',
    long: true,
    // What it has goals for are counts, which do not change by what the faults compute.
    last: true,
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
    vitest: { project: 'e2e', paths: [] },
    unmet: needsLab,
  },
];
