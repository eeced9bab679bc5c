import { deepEqual } from 'node:assert/strict';
import type { TestProject } from 'vitest/node';
import { labDown } from '../../lab/lab.ts';
import { hostState, hostStateAfter, type HostState } from '../hostState.ts';

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
    deepEqual(await hostStateAfter(before), before);
  };
}
