import type { ConnectivityCheckStatus } from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { Evaluation } from '../../../connectivity/protocol/evaluation.ts';
import type { Observation, ServerView } from '../observe/observation.ts';

/** A single failed ask counts as an outage of the server after this time, ms. */
export const DOWN_AFTER_MS = 5_000;
const DOWN_AFTER_ASKS = 2;

/**
 * What a decision rests on.
 *
 * | server                                          | kind         | findings and counts              |
 * | ----------------------------------------------- | ------------ | -------------------------------- |
 * | two asks in a row failed, or one 5 s ago        | ServerDown   | those of the status, and Server  |
 * | answered, with this check                       | Evaluated    | those of the evaluation          |
 * | answered, without this check                    | NotEvaluated | those of the status              |
 * | not asked yet, or one failed ask after a start  | NotAsked     | those of the status              |
 *
 * One failed ask after an answer changes nothing: the last evaluation holds.
 */
export type Known =
  | { readonly kind: 'Evaluated'; readonly evaluation: Evaluation }
  | { readonly kind: 'ServerDown'; readonly failure: NonNullable<ServerView['failure']> }
  | { readonly kind: 'NotEvaluated' }
  | { readonly kind: 'NotAsked' };

/** What is known now, by the table of `Known`. */
export function knownOf({ failure, evaluation, hasAnswered }: ServerView): Known {
  const isDown = failure !== undefined && (failure.asks >= DOWN_AFTER_ASKS || failure.ageMs >= DOWN_AFTER_MS);
  if (isDown) return { kind: 'ServerDown', failure };
  if (evaluation !== undefined) return { kind: 'Evaluated', evaluation };
  return { kind: hasAnswered ? 'NotEvaluated' : 'NotAsked' };
}

/** The generation of the spec that the findings belong to; undefined if there never was an evaluation. */
export function evaluatedGeneration(known: Known, before: ConnectivityCheckStatus): number | undefined {
  return known.kind === 'Evaluated' ? known.evaluation.generation : before.observedGeneration;
}

/** Whether there was an evaluation of the present spec. */
export function isEvaluated(known: Known, { check }: Observation): boolean {
  if (known.kind === 'Evaluated') return true;
  const { observedGeneration } = check.status ?? {};
  return observedGeneration !== undefined && observedGeneration === check.metadata?.generation;
}
