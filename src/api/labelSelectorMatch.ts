/** A metav1.LabelSelector of the API server, whose operators and values may be of any kind. */
export interface SelectorLike {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly RequirementLike[] | undefined;
}

interface RequirementLike {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

/**
 * Whether labels match a LabelSelector, as apimachinery's LabelSelectorAsSelector and Requirement.Matches do
 * (k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go, pkg/labels/selector.go). All labels and expressions must match. An
 * empty selector matches everything.
 *
 * | operator     | values  | label absent | label present         |
 * |--------------|---------|--------------|-----------------------|
 * | In           | some    | no match     | its value is listed   |
 * | NotIn        | some    | match        | its value is not listed |
 * | Exists       | none    | no match     | match                 |
 * | DoesNotExist | none    | match        | no match              |
 *
 * Other combinations of operator and values are errors in apimachinery. Here the selector then matches nothing.
 */
export function matchesSelector(selector: SelectorLike, labels: Readonly<Record<string, string>> = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => valueOf(labels, key) === value) &&
    matchExpressions.every((requirement) => meets(requirement, labels))
  );
}

function meets({ key, operator, values = [] }: RequirementLike, labels: Readonly<Record<string, string>>): boolean {
  const value = valueOf(labels, key);
  const listed = value !== undefined && values.includes(value);
  if (operator === 'In') return listed;
  if (operator === 'NotIn') return values.length > 0 && !listed;
  if (operator === 'Exists') return values.length === 0 && value !== undefined;
  return operator === 'DoesNotExist' && values.length === 0 && value === undefined;
}

/** An inherited property, such as `constructor`, is no label. */
function valueOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
