import { createLabelMatcher } from '../../../api/labelMatcher.ts';
import type { LabelSelector } from '../../../api/labelSelector.ts';
import type { TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import type { Source } from '../../../weights/records/source.ts';
import type { Candidate } from '../observe/observation.ts';

/** Which candidates a spec selects, and which it does not. One that cannot be decided is in neither. */
export interface Selection {
  readonly selected: readonly Source[];
  readonly others: readonly Source[];
}

/**
 * Decides which candidates a spec selects.
 *
 * | field             | a source is selected if                                                              |
 * |-------------------|--------------------------------------------------------------------------------------|
 * | namespaceSelector | the labels of its namespace match; undecided while the namespace is not known        |
 * | ingressClassNames | its class is one of them                                                             |
 * | annotationFilter  | it has the annotation with this very value                                           |
 *
 * An absent or empty field selects all.
 */
export function select(candidates: readonly Candidate[], spec: TrafficWeightSpec): Selection {
  const isSelected = matcherOf(spec);
  const selected: Source[] = [];
  const others: Source[] = [];
  for (const candidate of candidates) {
    const decision = isSelected(candidate);
    if (decision !== undefined) (decision ? selected : others).push(candidate.source);
  }
  return { selected, others };
}

function matcherOf({ namespaceSelector = {}, ingressClassNames = [], annotationFilter }: TrafficWeightSpec) {
  const matches = createLabelMatcher(namespaceSelector);
  const takesAll = isEmpty(namespaceSelector);
  const [key, value] = annotationFilter === undefined ? [] : split(annotationFilter);
  return ({ source, className, namespaceLabels }: Candidate): boolean | undefined => {
    if (key !== undefined && valueOf(source.annotations, key) !== value) return false;
    if (ingressClassNames.length > 0 && !ingressClassNames.includes(className ?? '')) return false;
    if (takesAll) return true;
    return namespaceLabels && matches((label) => valueOf(namespaceLabels, label));
  };
}

/** Not a property that each object has, such as `constructor`. */
function valueOf(values: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

function isEmpty({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

function split(filter: string): [key: string, value: string] {
  const at = filter.indexOf('=');
  return [filter.slice(0, at), filter.slice(at + 1)];
}
