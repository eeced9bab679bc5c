import { expect } from 'vitest';
import { APPLIED_HASH_ANNOTATION } from '../../src/runtime/apply/difference.ts';
import type { KubeObject } from '../../src/runtime/client/resource.ts';

/**
 * Throws unless the operator has applied the object. A Deployment is created by a POST, with a word instead of the hash, and then applied:
 * the apply adds the hash, which increments the generation.
 */
export function expectApplied(object: KubeObject | undefined): void {
  expect(object?.metadata?.annotations?.[APPLIED_HASH_ANNOTATION]).toMatch(/^[0-9a-f]{32}$/);
}
