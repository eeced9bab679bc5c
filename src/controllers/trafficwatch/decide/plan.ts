import type { TrafficWatchStatus } from '../../../api/trafficwatch/schema.ts';
import type { DeploymentDecision } from './deployment/deployment.ts';
import type { ContendedLabel, LabelRef } from './labels/labelContention.ts';
import type { LabelChanges } from './labels/nodeLabels.ts';
import { countVerdicts, type VerdictCounts } from './verdict/counts.ts';
import type { NodeVerdict } from './verdict/nodeVerdict.ts';

/** Why a TrafficWatch cannot go on until somebody changes something. */
export interface Stall {
  readonly reason:
    'CrdOutdated' | 'InvalidSpec' | 'LabelKeyTaken' | 'DeploymentNotOwned' | 'SelectorChanged' | 'DeploymentInvalid';
  readonly message: string;
}

/** Everything that one reconcile of a TrafficWatch is going to write, but for the status, which also tells how it went. */
export interface Plan {
  /** Goes before anything else, so that no label is ever written that nobody would take off. */
  readonly finalizer: 'Add' | 'Keep' | 'Remove';
  readonly labels: LabelChanges;
  /** Labels that somebody changes again as often as they are put right. */
  readonly contended: readonly ContendedLabel[];
  /** Labels that have stood since they were written, for long enough to look no further. */
  readonly labelsAtRest: readonly LabelRef[];
  readonly deployment: DeploymentDecision | undefined;
  /**
   * One for each node of the observation, in their order; none where nothing is decided. By place, since maps by name
   * and what was made from them took a third of the CPU time of a pass with fifty TrafficWatches.
   */
  readonly verdicts: readonly NodeVerdict[];
  readonly counts: VerdictCounts;
  readonly stall: Stall | undefined;
  /** Two passes with data have been seen, now or before. */
  readonly decided: boolean;
  /** The label key that Deployment and nodes use once the plan is carried out; undefined when nothing is touched. */
  readonly labelKey: string | undefined;
  readonly renaming: boolean;
  /** When to look again without being told, ms from now. */
  readonly requeueAfterMs: number | undefined;
}

/** Writes and decides nothing. */
export const NOTHING: Plan = {
  finalizer: 'Keep',
  labels: new Map(),
  contended: [],
  labelsAtRest: [],
  deployment: undefined,
  verdicts: [],
  counts: countVerdicts([]),
  stall: undefined,
  decided: false,
  labelKey: undefined,
  renaming: false,
  requeueAfterMs: undefined,
};

/** What the status remembers. One that another release or PKopel/traffic-operator wrote has `ready` alone. */
export function wasDecided(status: TrafficWatchStatus | undefined): boolean {
  return status?.decided ?? status?.ready === true;
}
