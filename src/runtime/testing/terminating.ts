import { expect } from 'vitest';

/** Matches the condition Ready of an object that is being deleted, while this finalizer of another controller is left. */
export function terminatingFor(finalizer: string): unknown {
  const message = `being deleted: waiting for finalizer ${finalizer}`;
  return expect.objectContaining({ type: 'Ready', status: 'False', reason: 'Terminating', message });
}
