/** A metav1.LabelSelector as the API server may have it: with operators and values of any kind. */
export interface SelectorLike {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly RequirementLike[] | undefined;
}

interface RequirementLike {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

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
 * A selector without requirements matches everything. A label with the value "" is present. Other operators, In and NotIn
 * without values, and the others with values are errors in apimachinery; here such a selector matches nothing.
 */
export function createLabelMatcher({ matchLabels = {}, matchExpressions = [] }: SelectorLike): LabelMatcher {
  const requirements = [
    ...Object.entries(matchLabels).map(([key, value]) => requirementMatcher({ key, operator: 'In', values: [value] })),
    ...matchExpressions.map(requirementMatcher),
  ];
  return (labelOf) => requirements.every((matches) => matches(labelOf));
}

/** As createLabelMatcher, for labels in a record. An inherited property does not count as a label. */
export function createSelectorMatcher(selector: SelectorLike): (labels: Readonly<Record<string, string>>) => boolean {
  const matches = createLabelMatcher(selector);
  return (labels) => matches((key) => (Object.hasOwn(labels, key) ? labels[key] : undefined));
}

/** Number of labels and expressions of a selector. Matching an object takes as many look-ups at most. */
export function requirementsOf({ matchLabels = {}, matchExpressions = [] }: SelectorLike): number {
  return Object.keys(matchLabels).length + matchExpressions.length;
}

const NEVER: LabelMatcher = () => false;

function requirementMatcher({ key, operator, values = [] }: RequirementLike): LabelMatcher {
  const listed = new Set(values);
  const isListed = (value: string | undefined): boolean => value !== undefined && listed.has(value);
  const hasValues = values.length > 0;
  switch (operator) {
    case 'In':
      return hasValues ? (labelOf) => isListed(labelOf(key)) : NEVER;
    case 'NotIn':
      return hasValues ? (labelOf) => !isListed(labelOf(key)) : NEVER;
    case 'Exists':
      return hasValues ? NEVER : (labelOf) => labelOf(key) !== undefined;
    case 'DoesNotExist':
      return hasValues ? NEVER : (labelOf) => labelOf(key) === undefined;
    default:
      return NEVER;
  }
}
