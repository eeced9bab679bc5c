import type { FlagTable } from '../options/flagTable.ts';
import { UsageError } from '../runtime/process/usageError.ts';
import type { Command } from './command.ts';

/** A sub-command, as `--help` shows it. */
export interface CommandEntry {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** Loads the code of the command. */
  readonly load: () => Promise<Command>;
}

/** The sub-commands. Each is loaded on demand, so that a process has the code of one command in memory. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'manager',
    summary: 'Measure and label the nodes, and apply the Deployments of TrafficWatches (the default).',
    load: async () => (await import('./manager/command.ts')).manager,
  },
  {
    name: 'cleanup',
    summary: 'Remove all labels and finalizers of the operator before it is uninstalled.',
    load: async () => (await import('./cleanup/command.ts')).cleanup,
  },
  {
    name: 'connectivity-server',
    summary: 'Collect the reports of the connectivity agents, as k8s-netchecker-server.',
    load: async () => (await import('./connectivityServer/command.ts')).connectivityServer,
  },
  {
    name: 'connectivity-agent',
    summary: 'Report what the network of a node can reach, as k8s-netchecker-agent.',
    load: async () => (await import('./connectivityAgent/command.ts')).connectivityAgent,
  },
  {
    name: 'trafficweights',
    summary: 'Give the DNS records of a cluster their weights, as its TrafficWeights ask for.',
    load: async () => (await import('./trafficweights/command.ts')).trafficWeights,
  },
  {
    name: 'weights',
    summary: 'Give the DNS records of a cluster their weights, as k8s-traffic-controller.',
    load: async () => (await import('./weights/command.ts')).weights,
  },
  {
    name: 'placement-webhook',
    summary: 'Give new pods their node affinity where the API server serves no MutatingAdmissionPolicy.',
    load: async () => (await import('./placementWebhook/command.ts')).placementWebhook,
  },
];

/** @throws UsageError if the command does not exist */
export async function loadCommand(name: string): Promise<Command> {
  return entryOf(name).load();
}

/** @throws UsageError if the command does not exist */
export function entryOf(name: string): CommandEntry {
  const entry = COMMANDS.find((command) => command.name === name);
  if (entry === undefined) {
    const names = COMMANDS.map((command) => command.name);
    throw new UsageError(`${name}: unknown command; must be one of ${names.join(', ')}`);
  }
  return entry;
}

/**
 * The flags of a command.
 *
 * @throws UsageError if the command does not exist
 */
export async function flagsOf(name: string): Promise<FlagTable> {
  return (await loadCommand(name)).flags;
}
