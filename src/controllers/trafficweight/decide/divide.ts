import { parseTrafficWeightSpec } from '../../../api/trafficweight/schema.ts';
import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import { byAge, createdAt, type Aged } from '../../../weights/records/age.ts';
import type { Rival } from '../../../weights/plan/plan.ts';
import type { WeightSettings } from '../../../weights/records/records.ts';
import type { Source } from '../../../weights/records/source.ts';
import type { Candidate } from '../observe/observation.ts';
import { createSelector, type Selector } from './select.ts';
import { settingsOf } from './settings.ts';

/** What a TrafficWeight has to do with the sources of the cluster. */
export interface Division {
  /** Those that it selects. */
  readonly selected: readonly Source[];
  /** Another TrafficWeight that has a source of `selected`; undefined if this one has it. */
  readonly otherOwnerOf: (source: Source) => string | undefined;
  /** Those that others have whose records have the same set identifier. */
  readonly rivals: readonly Rival[];
  /** Those that no TrafficWeight selects. */
  readonly unselected: readonly Source[];
  /** Those of which that cannot be said yet. */
  readonly undecided: readonly Source[];
}

/** A TrafficWeight that takes part. */
interface Party extends Aged {
  readonly weight: TrafficWeight;
  /** Its hosts and annotation. The weight decides nothing here. */
  readonly settings: WeightSettings;
  /** An invalid spec decides nothing. */
  readonly selects: Selector;
}

/**
 * Divides the sources of a cluster among its TrafficWeights.
 *
 * | source                                                        | the TrafficWeight that has it         |
 * |---------------------------------------------------------------|---------------------------------------|
 * | its DNSEndpoint is of one that selects it, or cannot decide   | that one                              |
 * | selected by others                                            | the oldest one, then the first by name |
 * | selected by none                                              | none                                  |
 *
 * So a source that goes from one to another keeps its DNSEndpoint.
 *
 * @param weight the TrafficWeight that is reconciled
 * @param weights all of them
 * @param labelOf the TrafficWeight that a source's DNSEndpoint is of, if any
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
