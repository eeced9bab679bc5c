import type { Evidence, FindingClass, Severity } from '../../api/connectivitycheck/finding.ts';
import type { Fault } from './faults/faults.ts';
import type { Zones } from './faults/scope.ts';
import type { AgentsByPlace, Pair } from './pairs/pair.ts';
import type { ClusterView } from './view.ts';

/** The input of the rules. */
export interface Situation {
  readonly view: ClusterView;
  /** Agents of nodes that are not excluded. */
  readonly agents: AgentsByPlace;
  readonly zones: Zones;
  readonly pairs: readonly Pair[];
  readonly faults: readonly Fault[];
  /** The faults that are reported. The others are not, but still explain what agents cannot reach. */
  readonly confirmed: ReadonlySet<Fault>;
}

/** The result of one rule for one subject. Parts of the same class and subject become one finding. */
export interface Part {
  readonly class: FindingClass;
  readonly subject: string;
  readonly severity: Severity;
  /** A sentence without its full stop. */
  readonly message: string;
  readonly evidence: Evidence;
  /** One measurement shows it, and the next may not. No finding begins by it, but a finding that exists stays. */
  readonly isUnconfirmed?: boolean;
}

/** A rule decides about some classes of findings. */
export type Rule = (situation: Situation) => readonly Part[];
