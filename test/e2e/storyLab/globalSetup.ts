import { deepEqual } from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { TestProject } from 'vitest/node';
import { until } from '../../harness/measured.ts';
import { labDown } from '../../lab/lab.ts';
import { hostState, type HostState } from '../hostState.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The machine without a lab. */
    hostState: HostState;
  }
}

/**
 * Begins the level without a lab, so that no story takes over the lab of an earlier run. After the last file, takes the
 * lab of the stories down and checks that nothing is left of it: vitest fails if this throws.
 */
export default async function setup({ provide }: Pick<TestProject, 'provide'>): Promise<() => Promise<void>> {
  await labDown();
  const before = hostState();
  provide('hostState', before);
  return async () => {
    await labDown();
    // Devices and cgroups go a moment after the processes that held them.
    const isAsBefore = () => Promise.resolve(isDeepStrictEqual(hostState(), before));
    await until('the machine is as before', isAsBefore, { timeout: 120_000 }).catch(() => undefined);
    deepEqual(hostState(), before);
  };
}
