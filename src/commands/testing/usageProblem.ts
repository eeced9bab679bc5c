import { expect } from 'vitest';

/** The message of the UsageError that the action throws. Throws if the action does not throw. */
export function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    expect((error as Error).name).toBe('UsageError');
    return (error as Error).message;
  }
  throw new Error('taken');
}
