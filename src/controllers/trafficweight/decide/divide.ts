import { createLabelMatcher } from '../../../api/labelMatcher.ts';
import type { LabelSelector } from '../../../api/labelSelector.ts';
import {
  parseTrafficWeightSpec,
  type TrafficWeight,
  type TrafficWeightSpec,
} from '../../../api/trafficweight/trafficWeight.ts';
import { DEFAULT_ANNOTATION_PREFIX } from '../../../api/trafficweight/terms.ts';
import type { Rival } from '../../../weights/plan/plan.ts';
import { isWithin } from '../../../weights/records/domain.ts';
import type { WeightSettings } from '../../../weights/records/records.ts';
import { byAge, createdAt, type Aged, type Source } from '../../../weights/records/source.ts';
import type { Candidate } from '../observe/observation.ts';

/** The sources of the cluster, divided from the point of view of one TrafficWeight. */
export interface Division {
  /** The sources that it selects. */
  readonly selected: readonly Source[];
  /** Returns the other TrafficWeight that has a source of `selected`; undefined if this TrafficWeight has it. */
  readonly otherOwnerOf: (source: Source) => string | undefined;
  /** Sources of other TrafficWeights whose records have the same set identifier. */
  readonly rivals: readonly Rival[];
  /** Sources that no TrafficWeight selects. */
  readonly unselected: readonly Source[];
  /** Sources that a TrafficWeight may select: its selector cannot decide yet. */
  readonly undecided: readonly Source[];
}

/** A TrafficWeight with its parsed selector. */
interface Party extends Aged {
  readonly weight: TrafficWeight;
  /** Its domain and annotation. The weight in it is not used here. */
  readonly settings: WeightSettings;
  /** Returns undefined for an invalid spec. */
  readonly selects: Selector;
}

/**
 * Divides the sources of a cluster among its TrafficWeights.
 *
 * | source                                                        | the TrafficWeight that has it         |
 * |---------------------------------------------------------------|---------------------------------------|
 * | its DNSEndpoint has the label of one that selects it, or may  | the one in the label                  |
 * | selected, without such a label                                | the oldest that selects it, then the first by name |
 * | selected by none                                              | none                                  |
 *
 * So a source that moves to another TrafficWeight keeps its DNSEndpoint.
 *
 * @param weight the TrafficWeight that is reconciled
 * @param weights all of them
 * @param labelOf returns the TrafficWeight in the label of a source's DNSEndpoint, if any
 */
export function divide(
  weight: TrafficWeight,
  { weights, candidates }: { readonly weights: readonly TrafficWeight[]; readonly candidates: readonly Candidate[] },
  labelOf: (source: Source) => string | undefined,
): Division {
  const parties = weights.map(partyOf).sort(byAge);
  const self = weight.metadata?.name;
  const division = {
    selected: [] as Source[],
    rivals: [] as Rival[],
    unselected: [] as Source[],
    undecided: [] as Source[],
  };
  const others = new Map<Source, string>();
  for (const candidate of candidates) {
    const { source } = candidate;
    const decided = parties.map((party) => ({ party, selects: party.selects(candidate) }));
    const owner = ownerAmong(decided, labelOf(source));
    const isSelected = decided.some(({ party, selects }) => party.name === self && selects === true);
    if (isSelected) division.selected.push(source);
    if (owner !== undefined && owner.name !== self) {
      others.set(source, owner.name);
      const isRival = owner.weight.spec.clusterName === weight.spec.clusterName;
      if (isRival) division.rivals.push({ source, settings: owner.settings });
    } else if (!isSelected) {
      const isUnselected = decided.every(({ selects }) => selects === false);
      (isUnselected ? division.unselected : division.undecided).push(source);
    }
  }
  return { ...division, otherOwnerOf: (source) => others.get(source) };
}

interface Decided {
  readonly party: Party;
  readonly selects: boolean | undefined;
}

function ownerAmong(decided: readonly Decided[], label: string | undefined): Party | undefined {
  const labelled = decided.find(({ party, selects }) => party.name === label && selects !== false);
  return (labelled ?? decided.find(({ selects }) => selects === true))?.party;
}

function partyOf(weight: TrafficWeight): Party {
  const parsed = parseTrafficWeightSpec(weight);
  const selects = 'problems' in parsed ? () => undefined : createSelector(parsed.spec);
  const { name = '', creationTimestamp } = weight.metadata ?? {};
  return { weight, name, createdAt: createdAt(creationTimestamp), settings: settingsOf(weight.spec, 0), selects };
}

/** Whether a candidate is selected; undefined if that cannot be decided yet. */
type Selector = (candidate: Candidate) => boolean | undefined;

/**
 * Makes the selector of a spec. All fields must match; an absent or empty one matches all. While not all hosts of a candidate are known,
 * it may also have others, of other classes: then it is undecided instead of not selected.
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
    const ifOther = isKnown ? false : undefined;
    if (!source.hosts.some(({ host }) => isWithin(host, bindingDomain))) return ifOther;
    if (classes.length > 0 && !classNames.some((name) => classes.includes(name))) return ifOther;
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

/** Returns the settings that a spec gives its records. @param clusterWeight from its backend, 0 to 255 */
export function settingsOf(spec: TrafficWeightSpec, clusterWeight: number): WeightSettings {
  return {
    clusterName: spec.clusterName,
    bindingDomain: spec.bindingDomain ?? '',
    annotationPrefix: spec.annotationPrefix ?? DEFAULT_ANNOTATION_PREFIX,
    healthCheckId: spec.healthCheckID,
    recordTtl: spec.recordTTL,
    clusterWeight,
  };
}
