import type { LabelSelector, LabelSelectorRequirement } from './labelSelector.ts';

/** Returns the value of a label; undefined if the object does not have the label. */
export type LabelLookup = (key: string) => string | undefined;

/** Whether the labels of an object match. */
export type LabelMatcher = (labelOf: LabelLookup) => boolean;

/**
 * Creates the matcher of a selector, with the rules of apimachinery: LabelSelectorAsSelector in
 * https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1, and Requirement.Matches in
 * https://pkg.go.dev/k8s.io/apimachinery/pkg/labels.
 *
 * | requirement          | label is absent | value is in the list | value is not in the list |
 * |----------------------|-----------------|----------------------|--------------------------|
 * | matchLabels, In      | no match        | match                | no match                 |
 * | NotIn                | match           | no match             | match                    |
 * | Exists               | no match        | match                | match                    |
 * | DoesNotExist         | match           | no match             | no match                 |
 *
 * A selector without requirements matches everything. A label with the value "" is present.
 */
export function createLabelMatcher({ matchLabels = {}, matchExpressions = [] }: LabelSelector): LabelMatcher {
  const requirements = [
    ...Object.entries(matchLabels).map(([key, value]) => requirementMatcher({ key, operator: 'In', values: [value] })),
    ...matchExpressions.map(requirementMatcher),
  ];
  return (labelOf) => requirements.every((matches) => matches(labelOf));
}

function requirementMatcher({ key, operator, values = [] }: LabelSelectorRequirement): LabelMatcher {
  const listed = new Set(values);
  const isListed = (value: string | undefined): boolean => value !== undefined && listed.has(value);
  switch (operator) {
    case 'In':
      return (labelOf) => isListed(labelOf(key));
    case 'NotIn':
      return (labelOf) => !isListed(labelOf(key));
    case 'Exists':
      return (labelOf) => labelOf(key) !== undefined;
    case 'DoesNotExist':
      return (labelOf) => labelOf(key) === undefined;
  }
}
