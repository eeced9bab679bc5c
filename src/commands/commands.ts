import type { FlagTable } from '../options/flagTable.ts';
import { UsageError } from '../runtime/process/usageError.ts';
import type { Command } from './command.ts';

/** A sub-command, as `--help` shows it. What it needs is loaded when it is run. */
export interface CommandEntry {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** Absent for one that is still to come. */
  readonly load?: () => Promise<Command>;
}

/** The sub-commands. Each is loaded by itself, so that one process holds the code of one of them. */
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
  { name: 'connectivity-server', summary: 'Not available in this version.' },
  { name: 'connectivity-agent', summary: 'Not available in this version.' },
];

/**
 * @throws UsageError when there is none of the name, or when it is still to come
 */
export async function loadCommand(name: string): Promise<Command> {
  const load = entryOf(name).load;
  if (load === undefined) throw new UsageError(`${name}: not available in this version`);
  return load();
}

/** @throws UsageError when there is none of the name */
export function entryOf(name: string): CommandEntry {
  const entry = COMMANDS.find((command) => command.name === name);
  if (entry === undefined) {
    const names = COMMANDS.map((command) => command.name);
    throw new UsageError(`${name}: unknown command; must be one of ${names.join(', ')}`);
  }
  return entry;
}

/**
 * The flags of a command; none of one that is still to come.
 *
 * @throws UsageError when there is none of the name
 */
export async function flagsOf(name: string): Promise<FlagTable> {
  return (await entryOf(name).load?.())?.flags ?? {};
}
