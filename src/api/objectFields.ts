import * as z from 'zod';
import type { KubeObject } from '../runtime/client/resource.ts';

/** The fields that every kind has besides `spec` and `status`, for the schema of the whole object. */
export const OBJECT_FIELDS = {
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: z.custom<NonNullable<KubeObject['metadata']>>().optional().meta({ type: 'object' }),
};

/** Characters of a value of a label. */
const LONGEST_NAME = 63;

/** Rule of the API server for an object whose name is a label value on the objects that the operator creates for it. */
export const LABELLED_NAME_RULE = {
  rule: `size(self.metadata.name) <= ${LONGEST_NAME}`,
  message: `metadata.name must have ${LONGEST_NAME} characters at most: it is the value of a label`,
};
