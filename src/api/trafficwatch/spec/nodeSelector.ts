import { labelSelectorSchema, type DeniedSuffix, type LabelSelector } from '../../labelSelector.ts';
import { LABEL_KEY_SUFFIX } from '../label.ts';

/** A selector of nodes must not depend on the labels that the operator writes. */
export const NO_OWN_KEYS: DeniedSuffix = {
  suffix: LABEL_KEY_SUFFIX,
  message: `must not end in ${LABEL_KEY_SUFFIX}: the verdicts would decide which nodes are judged`,
};

/** Schema of `spec.nodeSelector`. */
export const nodeSelectorSchema = labelSelectorSchema(
  'Selects the nodes that are judged, by their labels. Other nodes are neither labelled nor counted, and a node that ' +
    'leaves the selection loses its label. Pods may run on other nodes: to keep them off, use the nodeSelector or the ' +
    'affinity of the pod template. Absent or empty: all nodes.',
  'Checked',
  { denied: NO_OWN_KEYS },
);

/**
 * The selector of a spec; undefined if the spec selects all nodes. Also undefined for an invalid selector, which an
 * older CRD may have let through: then nothing is written until it is corrected.
 *
 * @param spec may be absent, or of any shape
 */
export function nodeSelectorOf(
  spec: { readonly nodeSelector?: unknown } | null | undefined,
): LabelSelector | undefined {
  if (spec?.nodeSelector === undefined) return undefined;
  const selector = nodeSelectorSchema.safeParse(spec.nodeSelector).data;
  const count = Object.keys(selector?.matchLabels ?? {}).length + (selector?.matchExpressions?.length ?? 0);
  return count === 0 ? undefined : selector;
}
