import type { ConnectivityCheck } from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { ConnectivityReason } from '../../../api/connectivitycheck/reasons.ts';
import type { FindingHistory } from '../model/findingHistory.ts';
import type { Evaluation } from '../../../connectivity/protocol/evaluation.ts';

/** Why the server gave no answer. */
export interface ServerFailure {
  readonly reason: ConnectivityReason;
  /** One sentence for users. */
  readonly message: string;
}

/** Asks that failed, all of them since the last answer. */
export interface ServerSilence extends ServerFailure {
  /** Number of failed asks in a row. */
  readonly asks: number;
  /** Time since the first of them ended, ms. */
  readonly ageMs: number;
  /** Time since the last answer, ms. Without an answer to this process, as `ageMs`. */
  readonly silentMs: number;
}

/** The state of the connectivity server, as this process knows it. */
export interface ServerView {
  /** Whether there is a server to ask. */
  readonly isDeployed: boolean;
  /** Set while the last ask failed. */
  readonly failure?: ServerSilence | undefined;
  /** Whether this process had an answer. */
  readonly hasAnswered: boolean;
  /** The evaluation of this check in the last answer. */
  readonly evaluation?: Evaluation | undefined;
  /** Time since answers have no evaluation of this check, ms. Undefined if the last answer has one. */
  readonly lackingMs?: number | undefined;
}

/** All inputs of a decision about one check. */
export interface Observation {
  readonly check: ConnectivityCheck;
  readonly server: ServerView;
  /** Findings of the last evaluations. */
  readonly history: FindingHistory;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Milliseconds since this process last wrote the status; undefined if it has not. */
  readonly writtenAgoMs?: number | undefined;
}
