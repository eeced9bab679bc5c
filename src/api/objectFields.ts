import * as z from 'zod';
import type { KubeObject } from '../runtime/client/resource.ts';

/** The fields that every kind has besides `spec` and `status`, for the schema of the whole object. */
export const OBJECT_FIELDS = {
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: z.custom<NonNullable<KubeObject['metadata']>>().optional().meta({ type: 'object' }),
};
