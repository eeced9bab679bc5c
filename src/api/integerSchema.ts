import * as z from 'zod';

/** Schema of an optional integer of 64 bits. */
export function int64(description: string) {
  // No zod integer: its maximum is 2^53 - 1, which a byte counter can exceed.
  return z.number().optional().meta({ type: 'integer', format: 'int64', description });
}

/** Schema of an optional integer of 32 bits. */
export function int32(description: string) {
  return z.number().optional().meta({ type: 'integer', format: 'int32', description });
}
