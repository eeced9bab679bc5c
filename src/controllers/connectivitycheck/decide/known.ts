import type { ConnectivityCheckStatus } from '../../../api/connectivitycheck/connectivityCheck.ts';
import { ConnectivityReason } from '../../../api/connectivitycheck/reasons.ts';
import type { Evaluation } from '../../../connectivity/protocol/evaluation.ts';
import type { Observation, ServerFailure, ServerSilence } from '../observe/observation.ts';
import { lackLimitMs, silenceLimitMs } from './patience.ts';

/** One failed ask may be chance. These make the server unreachable: this number in a row, or one this long ago, ms. */
const UNREACHABLE_AFTER_ASKS = 2;
const UNREACHABLE_AFTER_MS = 5_000;

/**
 * What a decision rests on. The first row that applies counts:
 *
 * | server                                            | kind         | findings and counts                       |
 * | ------------------------------------------------- | ------------ | ----------------------------------------- |
 * | there is none to ask                              | NotDeployed  | none                                      |
 * | unreachable, and no answer for two intervals      | ServerDown   | those of the status, and a finding Server |
 * | answered, with this check                         | Evaluated    | those of the evaluation                   |
 * | answered, without this check for long             | NotEvaluated | those of the status, which are old        |
 * | answered, without this check                      | NotEvaluated | those of the status                       |
 * | unreachable, and this process had no answer       | Unanswered   | those of the status                       |
 * | not asked yet, or one failed ask after a start    | NotAsked     | those of the status                       |
 *
 * For long: longer than a server that has just started may take, which is 70 s or two intervals and 10 s.
 * Unreachable are two failed asks in a row, or one 5 s ago. `unreachable` has the reason before it is a finding, too.
 */
export type Known = { readonly unreachable?: ServerFailure | undefined } & (
  | { readonly kind: 'NotDeployed' }
  | { readonly kind: 'NotAsked' }
  | { readonly kind: 'ServerDown' | 'Unanswered'; readonly unreachable: ServerFailure }
  | { readonly kind: 'NotEvaluated'; readonly isOld: boolean }
  | { readonly kind: 'Evaluated'; readonly evaluation: Evaluation }
);

/** What is known now, by the table of `Known`. */
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

/** A process that has just started does not make an old status new. */
function wasOld({ conditions = [] }: ConnectivityCheckStatus = {}): boolean {
  return conditions.some(
    ({ type, status, reason }) =>
      type === 'Ready' && status === 'False' && reason === ConnectivityReason.NotEvaluatedYet,
  );
}

/** When time alone changes what is known, ms from now; undefined if only an answer does. */
export function nextChangeMs({ server: { failure, lackingMs }, check }: Observation, known: Known): number | undefined {
  const left = [
    ...(failure === undefined || known.kind === 'ServerDown'
      ? []
      : [UNREACHABLE_AFTER_MS - failure.ageMs, silenceLimitMs(check) - failure.silentMs]),
    ...(lackingMs === undefined ? [] : [lackLimitMs(check) - lackingMs]),
  ].filter((ms) => ms > 0);
  return left.length === 0 ? undefined : Math.min(...left);
}

/** The generation of the spec that the findings belong to; undefined if there never was an evaluation. */
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
