import type { LabelSelector } from '../../../api/labelSelector.ts';
import type { Planned } from '../../../api/trafficwatch/statusSchema.ts';
import { modeOf } from '../../../api/trafficwatch/spec/mode.ts';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import type { DeploymentDecision } from './deployment.ts';
import type { ContendedLabel } from './labels/labelContention.ts';
import type { LabelRef, LabelChanges } from '../model/label.ts';
import type { Breaker } from './verdict/breaker.ts';
import type { AvoidedNodes } from './workload/podPlacement.ts';
import type { BlockedDecision } from './workload/blockedPods.ts';
import { countVerdicts, type VerdictCounts, type NodeVerdict } from './verdict/nodeVerdict.ts';
import type { PassView } from '../observe/observation.ts';

/** Why a TrafficWatch cannot be reconciled until a user changes something. */
export interface Stall {
  readonly reason:
    | 'CrdOutdated'
    | 'SpecFieldsLost'
    | 'TooManyTrafficWatches'
    | 'TooManyReadings'
    | 'InvalidSpec'
    | 'LabelKeyTaken'
    | 'DeploymentsNotAllowed'
    | 'DeploymentNotOwned'
    | 'SelectorChanged'
    | 'DeploymentInvalid';
  readonly message: string;
}

/** Everything that one reconcile of a TrafficWatch writes, except the status, which also reports failed writes. */
export interface Plan {
  /** Add is applied before anything else. Otherwise a label could be written that no deletion removes. */
  readonly finalizer: 'Add' | 'Keep' | 'Remove';
  readonly labels: LabelChanges;
  /** Labels that another client keeps changing back after the operator rewrites them. */
  readonly contended: readonly ContendedLabel[];
  /** Written labels that nobody has changed for QUIET_PASSES passes. Their write records can be dropped. */
  readonly labelsAtRest: readonly LabelRef[];
  readonly deployment: DeploymentDecision | undefined;
  /** The pods that the admission policy gives the node affinity; undefined with `spec.deployment`. */
  readonly podSelector: LabelSelector | undefined;
  /** With AtCreation: the nodes that the policy excludes for pods that are created now. */
  readonly avoided: AvoidedNodes | undefined;
  /** The pods that find no node since nodes are unfit. */
  readonly blocked: BlockedDecision;
  /**
   * One verdict for each node of the observation, in the same order. Empty if nothing is decided. An array, because
   * maps by node name took a third of the CPU time of a pass with fifty TrafficWatches.
   */
  readonly verdicts: readonly NodeVerdict[];
  /** Unchanged if the last pass failed. Undefined where the spec has no limit for unfit nodes, or nothing is decided. */
  readonly breaker: Breaker | 'Unchanged' | undefined;
  readonly counts: VerdictCounts;
  readonly stall: Stall | undefined;
  /** True if there have been two passes in a row with data, now or earlier. */
  readonly decided: boolean;
  /** The label key in use after this plan is applied. Undefined if no key is in use. */
  readonly labelKey: string | undefined;
  readonly renaming: boolean;
  /** With mode Observe: what Enforce would write. Undefined with Enforce. */
  readonly planned: Planned | undefined;
  /** When to requeue without a new event: ms from now. */
  readonly requeueAfterMs: number | undefined;
}

/** The plan that writes nothing and decides nothing. */
export const NOTHING: Plan = {
  finalizer: 'Keep',
  labels: new Map(),
  contended: [],
  labelsAtRest: [],
  deployment: undefined,
  podSelector: undefined,
  avoided: undefined,
  blocked: { kind: 'NotRead' },
  verdicts: [],
  breaker: undefined,
  counts: countVerdicts([]),
  stall: undefined,
  decided: false,
  labelKey: undefined,
  renaming: false,
  planned: undefined,
  requeueAfterMs: undefined,
};

/**
 * Whether the status records that nodes were decided. A status that an older release or PKopel/traffic-operator wrote
 * lacks `decided`; `ready` counts instead. Verdicts of mode Observe are in no label, so Enforce decides again.
 */
export function wasDecided({ spec, status }: TrafficWatch): boolean {
  if (status?.mode === 'Observe' && modeOf(spec) === 'Enforce') return false;
  return status?.decided ?? status?.ready === true;
}

/** True if the selector leaves out every node. Not true of a cluster without nodes. */
export function selectsNone({ nodes, outside }: Pick<PassView, 'nodes' | 'outside'>): boolean {
  return nodes.length === 0 && outside.length > 0;
}
