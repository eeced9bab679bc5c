import type { ConnectivityCheck, ConnectivityCheckStatus } from '../../../api/connectivitycheck/connectivityCheck.ts';
import { DEFAULT_INTERVAL } from '../../../api/connectivitycheck/terms.ts';
import { ConnectivityReason } from '../../../api/connectivitycheck/reasons.ts';
import { durationMs } from '../../../api/fieldSchemas.ts';
import type { Evaluation } from '../../../connectivity/protocol/evaluation.ts';
import type { Observation, ServerFailure, ServerSilence } from '../observe/observation.ts';

/** One failed request may be chance. The server is unreachable after this number in a row, or this time after one, ms. */
const UNREACHABLE_AFTER_ASKS = 2;
const UNREACHABLE_AFTER_MS = 5_000;

/**
 * The source of the findings and counts of a decision. The first row that applies counts:
 *
 * | server                                              | kind         | findings and counts from           |
 * | --------------------------------------------------- | ------------ | ---------------------------------- |
 * | there is none to ask                                | NotDeployed  | none                               |
 * | unreachable, and no answer for two intervals        | ServerDown   | the status, and a finding Server   |
 * | answered, with this check                           | Evaluated    | the evaluation                     |
 * | answered, without this check for long               | NotEvaluated | the status; they are old           |
 * | answered, without this check                        | NotEvaluated | the status                         |
 * | unreachable, and this process had no answer         | Unanswered   | the status                         |
 * | not asked yet, or one failed request after a start  | NotAsked     | the status                         |
 *
 * For long: longer than a server that has just started may take, which is 70 s or two intervals and 10 s.
 * The server is unreachable if two requests in a row failed, or one failed 5 s ago. `unreachable` has the reason also before
 * there is a finding Server.
 */
export type Known = { readonly unreachable?: ServerFailure | undefined } & (
  | { readonly kind: 'NotDeployed' }
  | { readonly kind: 'NotAsked' }
  | { readonly kind: 'ServerDown' | 'Unanswered'; readonly unreachable: ServerFailure }
  | { readonly kind: 'NotEvaluated'; readonly isOld: boolean }
  | { readonly kind: 'Evaluated'; readonly evaluation: Evaluation }
);

/** Returns the row of the table of `Known` that applies. */
export function knownOf({ server, check }: Observation): Known {
  const { isDeployed, failure, evaluation, hasAnswered, lackingMs = 0 } = server;
  if (!isDeployed) return { kind: 'NotDeployed' };
  const unreachable = failure !== undefined && isUnreachable(failure) ? failure : undefined;
  if (unreachable !== undefined && unreachable.silentMs >= silenceLimitMs(check)) {
    return { kind: 'ServerDown', unreachable };
  }
  if (evaluation !== undefined) return { kind: 'Evaluated', evaluation, unreachable };
  if (hasAnswered) {
    return { kind: 'NotEvaluated', isOld: lackingMs >= lackLimitMs(check) || wasOld(check.status), unreachable };
  }
  return unreachable === undefined ? { kind: 'NotAsked' } : { kind: 'Unanswered', unreachable };
}

function isUnreachable({ asks, ageMs }: ServerSilence): boolean {
  return asks >= UNREACHABLE_AFTER_ASKS || ageMs >= UNREACHABLE_AFTER_MS;
}

/** Whether the status already says that the findings are old. A restarted operator must not make them new. */
function wasOld({ conditions = [] }: ConnectivityCheckStatus = {}): boolean {
  return conditions.some(
    ({ type, status, reason }) =>
      type === 'Ready' && status === 'False' && reason === ConnectivityReason.NotEvaluatedYet,
  );
}

/** Returns in how many ms the result of `knownOf` changes without an answer; undefined if only an answer changes it. */
export function nextChangeMs({ server: { failure, lackingMs }, check }: Observation, known: Known): number | undefined {
  const left = [
    ...(failure === undefined || known.kind === 'ServerDown'
      ? []
      : [UNREACHABLE_AFTER_MS - failure.ageMs, silenceLimitMs(check) - failure.silentMs]),
    ...(lackingMs === undefined ? [] : [lackLimitMs(check) - lackingMs]),
  ].filter((ms) => ms > 0);
  return left.length === 0 ? undefined : Math.min(...left);
}

/** Returns the generation of the spec that the findings belong to; undefined if there never was an evaluation. */
export function evaluatedGeneration(known: Known, before: ConnectivityCheckStatus): number | undefined {
  if (known.kind === 'NotDeployed') return undefined;
  return known.kind === 'Evaluated' ? known.evaluation.generation : before.observedGeneration;
}

/** Whether there was an evaluation of the present spec, and it is not old. */
export function isEvaluated(known: Known, { check }: Observation): boolean {
  if (known.kind === 'Evaluated') return true;
  if (known.kind === 'NotDeployed' || (known.kind === 'NotEvaluated' && known.isOld)) return false;
  const { observedGeneration } = check.status ?? {};
  return observedGeneration !== undefined && observedGeneration === check.metadata?.generation;
}

/** The longest time until a silent server is a finding, for checks with long intervals, ms. */
const LONGEST_SILENCE_MS = 120_000;
/** A server that has just started waits for agents this long, or two intervals if they are longer, and 5 s in addition: ms. */
const LEAST_GRACE_MS = 60_000;
/** These 5 s, and the longest time between two requests to the server: ms. */
const LACK_SLACK_MS = 10_000;

/** The interval of a check, ms. */
export function intervalMs({ spec }: Pick<ConnectivityCheck, 'spec'>): number {
  return durationMs(spec?.interval ?? DEFAULT_INTERVAL);
}

/**
 * Returns how long the server may be silent before that is a finding, ms: two intervals, at most two minutes. A server that
 * is replaced, by an upgrade or because its node is drained, answers again within this time.
 */
function silenceLimitMs(check: ConnectivityCheck): number {
  return Math.min(2 * intervalMs(check), LONGEST_SILENCE_MS);
}

/** Returns how long answers may lack a check before its findings are old, ms: longer than a new server waits for agents. */
function lackLimitMs(check: ConnectivityCheck): number {
  return Math.max(2 * intervalMs(check), LEAST_GRACE_MS) + LACK_SLACK_MS;
}
