import * as z from 'zod';
import { GROUP } from '../group.ts';

/** The end of every label key: `<prefix>.traffic.example.com/unfit`. */
export const LABEL_KEY_SUFFIX = `.${GROUP}/unfit`;
/** The label of cluster-autoscaler's simulated nodes. A term with it matches no node that exists: docs/autoscalers.md. */
export const TEMPLATE_NODE_LABEL = 'cluster-autoscaler.kubernetes.io/template-node';
/**
 * A label key's prefix has at most 253 characters (DNS subdomain); `.traffic.example.com` takes 20 of them. In keys of
 * earlier versions the whole prefix is the label.
 */
export const MAX_LABEL_LENGTH = 253 - `.${GROUP}`.length;
/** DNS-1123 subdomain, as apimachinery's validation.IsDNS1123Subdomain, which does not limit single labels. */
export const LABEL_PATTERN = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$';

const MESSAGE =
  'must be empty or the start of a DNS name: lower case letters, digits, "-" and ".", ' +
  `each part beginning and ending with a letter or digit, at most ${MAX_LABEL_LENGTH} characters, ` +
  'since the label key of nodes begins with it';

/** Schema of `spec.label`. */
export const labelSchema = z
  .string()
  .max(MAX_LABEL_LENGTH, MESSAGE)
  .refine((value) => new RegExp(LABEL_PATTERN).test(value), MESSAGE)
  .optional()
  .meta({
    description: `First part of the node label <label>.<namespace>${LABEL_KEY_SUFFIX}, whose value is "true" or "false". If it is empty or absent, the name of this object is used. A long one is cut, and followed by a hash; status.labelKey has the key.`,
    'x-kubernetes-validations': [{ rule: `self.matches('${LABEL_PATTERN}')`, message: MESSAGE }],
  });
