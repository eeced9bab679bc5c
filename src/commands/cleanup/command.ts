import { defineCommand } from '../command.ts';
import { runCleanup } from './cleanup.ts';
import { CLEANUP_FLAGS } from './flags.ts';

/** `cleanup`: takes off all that the operator put on the cluster. */
export const cleanup = defineCommand<typeof CLEANUP_FLAGS>({ name: 'cleanup', flags: CLEANUP_FLAGS, run: runCleanup });
