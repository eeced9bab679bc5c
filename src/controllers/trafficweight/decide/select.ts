import { createLabelMatcher } from '../../../api/labelMatcher.ts';
import type { TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import type { Source } from '../../../weights/records/source.ts';
import type { Candidate } from '../observe/observation.ts';

/**
 * The sources that a spec selects.
 *
 * | field             | a source is selected if                                         |
 * |-------------------|-----------------------------------------------------------------|
 * | namespaceSelector | the labels of its namespace match; a namespace that is not known yet matches only an absent or empty selector |
 * | ingressClassNames | its class is one of them                                        |
 * | annotationFilter  | it has the annotation with this very value                      |
 */
export function select(candidates: readonly Candidate[], spec: TrafficWeightSpec): Source[] {
  const { namespaceSelector = {}, ingressClassNames = [], annotationFilter } = spec;
  const matches = createLabelMatcher(namespaceSelector);
  const [key, value] = annotationFilter === undefined ? [] : split(annotationFilter);
  return candidates
    .filter(({ namespaceLabels = {} }) => matches((label) => namespaceLabels[label]))
    .filter(
      ({ className }) =>
        ingressClassNames.length === 0 || (className !== undefined && ingressClassNames.includes(className)),
    )
    .filter(({ source }) => key === undefined || source.annotations[key] === value)
    .map(({ source }) => source);
}

function split(filter: string): [key: string, value: string] {
  const at = filter.indexOf('=');
  return [filter.slice(0, at), filter.slice(at + 1)];
}
