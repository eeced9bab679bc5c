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
 * | sources           | its kind is one of them; undecided beyond the memory of its namespace         |
 * | bindingDomain     | one of its hosts is within it                                                 |
 * | annotationFilter  | it has the annotation with this very value                                    |
 * | ingressClassNames | it is an HTTPRoute, or its class is one of them                               |
 * | gatewayClassNames | it is an Ingress, or the class of a Gateway of it is one of them              |
 * | namespaceSelector | the labels of its namespace match; undecided while the namespace is not known |
 */
export function createSelector(spec: TrafficWeightSpec): Selector {
  const { namespaceSelector = {}, annotationFilter, bindingDomain = '' } = spec;
  const classesOf = { Ingress: spec.ingressClassNames ?? [], HTTPRoute: spec.gatewayClassNames ?? [] };
  const matches = createLabelMatcher(namespaceSelector);
  const takesAll = isEmpty(namespaceSelector);
  const [key, value] = annotationFilter === undefined ? [] : split(annotationFilter);
  return ({ source, classNames, isKnown, isBeyond, namespaceLabels }) => {
    if (spec.sources?.includes(source.kind) === false) return false;
    if (isBeyond) return undefined;
    const classes = classesOf[source.kind];
    if (key !== undefined && valueOf(source.annotations, key) !== value) return false;
    if (!isKnown) return undefined;
    if (!source.hosts.some(({ host }) => isWithin(host, bindingDomain))) return false;
    if (classes.length > 0 && !classNames.some((name) => classes.includes(name))) return false;
    if (takesAll) return true;
    return namespaceLabels && matches((label) => valueOf(namespaceLabels, label));
  };
}

/** Returns the value of a key; not a property that every object inherits, such as `constructor`. */
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
