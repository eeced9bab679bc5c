import { parseTrafficWeightSpec, type TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import { byAge, createdAt, type Aged } from '../../../weights/records/age.ts';
import type { Rival } from '../../../weights/plan/plan.ts';
import type { WeightSettings } from '../../../weights/records/records.ts';
import type { Source } from '../../../weights/records/source.ts';
import type { Candidate } from '../observe/observation.ts';
import { createSelector, type Selector } from './select.ts';
import { settingsOf } from './settings.ts';

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
