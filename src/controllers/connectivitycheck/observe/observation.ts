import type { ConnectivityCheck } from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { ConnectivityReason } from '../../../api/connectivitycheck/reasons.ts';
import type { Evaluation } from '../../../connectivity/protocol/evaluation.ts';

/** Why the server gave no answer. */
export interface ServerFailure {
  readonly reason: ConnectivityReason;
  /** One sentence for users. */
  readonly message: string;
}

/** What is known of the connectivity server. */
export interface ServerView {
  /** Set while the last ask failed. `asks`: failed ones in a row; `ageMs`: since the first of them ended. */
  readonly failure?: (ServerFailure & { readonly asks: number; readonly ageMs: number }) | undefined;
  /** Whether this process had an answer. */
  readonly hasAnswered: boolean;
  /** The evaluation of this check in the last answer. */
  readonly evaluation?: Evaluation | undefined;
}

/** All inputs of a decision about one check. */
export interface Observation {
  readonly check: ConnectivityCheck;
  readonly server: ServerView;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Milliseconds since this process last wrote the status; undefined if it has not. */
  readonly writtenAgoMs?: number | undefined;
}
