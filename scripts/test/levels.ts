import { needsGo, needsImage, needsLab, needsLinux, needsShellcheck } from './requirements.ts';

/** One level of tests. */
export interface Level {
  readonly name: string;
  /** Run in order; the first that fails ends the level. The last one is the one that counts tests, where any does. */
  readonly commands: readonly (readonly string[])[];
  /** A vitest project or path: its JSON report counts the tests. Without it the level counts as one test. */
  readonly vitest?: { readonly project: string; readonly paths: readonly string[] };
  /** Takes minutes: runs only where it is asked for by name. */
  readonly long?: true;
  /**
   * Mostly waits, for servers and for time to pass, so that what others compute meanwhile costs it little; but what it
   * waits for has deadlines, so that it does not give way to others.
   */
  readonly waits?: true;
  /** Says why the level cannot run on this machine; undefined when it can. */
  readonly unmet?: () => string | undefined;
}

function builtByLab(...families: readonly string[]): Pick<Level, 'commands' | 'unmet'> {
  return { commands: [['test/lab/build.sh', ...families]], unmet: () => needsLinux() ?? needsGo(families) };
}

/** From what is quick and needs nothing to what needs a cluster. */
export const LEVELS: readonly Level[] = [
  { name: 'format', commands: [['prettier', '--check', '--log-level', 'warn', '.']] },
  { name: 'lint', commands: [['eslint', '.']] },
  { name: 'types', commands: [['tsc', '--noEmit']] },
  { name: 'layers', commands: [['depcruise', '--config', '.dependency-cruiser.mjs', 'src']] },
  { name: 'shell', commands: [['scripts/test/shellcheck.sh']], unmet: needsShellcheck },
  {
    name: 'generated',
    commands: [['node', 'scripts/generate.ts', '--check']],
    // The manifests come from the chart, by helm: the pinned one, or the one that the variable names.
    unmet: () => (process.env.HELM === undefined ? needsGo(['helm']) : undefined),
  },
  { name: 'unit', commands: [], waits: true, vitest: { project: 'unit', paths: [] } },
  {
    name: 'integration',
    ...builtByLab('k8s', 'etcd', 'helm', 'node_exporter', 'prometheus'),
    waits: true,
    vitest: { project: 'integration', paths: [] },
  },
  {
    name: 'faults',
    long: true,
    waits: true,
    ...builtByLab('k8s', 'etcd', 'node_exporter', 'prometheus', 'toxiproxy'),
    vitest: { project: 'faults', paths: [] },
  },
  {
    name: 'chart',
    // The last three are e2e's: on a machine where nothing is built yet, others wait for their servers meanwhile.
    ...builtByLab('k8s', 'etcd', 'prometheus', 'helm', 'helm3', 'kubeconform', 'containerd', 'coredns', 'pause'),
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
    commands: [
      ['node', 'scripts/build.ts'],
      ['test/lab/build.sh', 'k8s', 'etcd', 'prometheus'],
      ['node', 'test/bench/main.ts', '--quick'],
    ],
    unmet: () => needsLinux() ?? needsGo(['k8s', 'etcd', 'prometheus']),
  },
  {
    name: 'e2e',
    commands: [['test/lab/prerequisites.sh'], ['test/lab/build.sh']],
    waits: true,
    vitest: { project: 'e2e', paths: [] },
    unmet: needsLab,
  },
];
