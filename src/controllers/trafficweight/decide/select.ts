import { createLabelMatcher } from '../../../api/labelMatcher.ts';
import type { LabelSelector } from '../../../api/labelSelector.ts';
import type { TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import { isWithin } from '../../../weights/records/domain.ts';
import type { Candidate } from '../observe/observation.ts';

/** Whether a candidate is selected; undefined if that cannot be decided yet. */
export type Selector = (candidate: Candidate) => boolean | undefined;

/**
 * Makes the selector of a spec. All fields must match; an absent or empty one matches all.
 *
 * | field             | a candidate is selected if                                                    |
 * |-------------------|-------------------------------------------------------------------------------|
 * | bindingDomain     | one of its hosts is within it                                                 |
 * | annotationFilter  | it has the annotation with this very value                                    |
 * | ingressClassNames | its class is one of them                                                      |
 * | namespaceSelector | the labels of its namespace match; undecided while the namespace is not known |
 */
export function createSelector(spec: TrafficWeightSpec): Selector {
  const { namespaceSelector = {}, ingressClassNames = [], annotationFilter, bindingDomain = '' } = spec;
  const matches = createLabelMatcher(namespaceSelector);
  const takesAll = isEmpty(namespaceSelector);
  const [key, value] = annotationFilter === undefined ? [] : split(annotationFilter);
  return ({ source, className, namespaceLabels }) => {
    if (!source.hosts.some(({ host }) => isWithin(host, bindingDomain))) return false;
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
