import type { Proof } from '../../contract/builtIn.ts';

/** What somebody else has made, and a built-in component may use. */
export interface Candidate<T> {
  readonly live: T;
  readonly proof: Proof;
  /** Why it is of no use although it measures the nodes: a sentence without its subject. */
  readonly problem?: string | undefined;
}

/** What a built-in component with the mode Auto uses. */
export type Choice<T> =
  | { readonly do: 'use'; readonly candidate: Candidate<T> }
  /** Its owner has time to bring it back, or to start it. @property candidate undefined: it is gone */
  | { readonly do: 'await'; readonly candidate: Candidate<T> | undefined }
  /** None of them. @property unproven the first one that is not used */
  | { readonly do: 'none'; readonly unproven: Candidate<T> | undefined };

/** What was used until now. */
export interface Before<T> {
  /** Undefined: it is gone. */
  readonly candidate: Candidate<T> | undefined;
}

/**
 * Chooses among what was found. Nobody gets into the way of the others by a name that is sorted first, since only what measures most nodes
 * counts. What was used until now, and measures some nodes, is kept: an own one would find its port taken there. What measures none any more is
 * not replaced at once: its owner may be about to create it again, and an own node-exporter would take its port.
 *
 * | used until now                  | one is proven | one is starting | time is over | choice             |
 * |---------------------------------|---------------|-----------------|--------------|--------------------|
 * | is proven, starting or few      | any           | any             | any          | use it             |
 * | is gone or unproven             | yes           | any             | any          | use the proven one |
 * | is gone or unproven             | no            | any             | no           | await it           |
 * | is gone or unproven, or nothing | no            | any             | yes          | none               |
 * | nothing                         | yes           | any             | any          | use the proven one |
 * | nothing                         | no            | yes             | no           | await that         |
 * | nothing                         | no            | no              | any          | none               |
 *
 * Of several proven ones, the first without a problem is used, or else the first.
 *
 * @param candidates in their order
 * @param before undefined: nothing was used
 * @param isOver whether the component has waited for as long as its deadline
 */
export function choose<T>(
  candidates: readonly Candidate<T>[],
  before: Before<T> | undefined,
  isOver: boolean,
): Choice<T> {
  const known = before?.candidate;
  if (known !== undefined && known.proof.is !== 'Unproven') return { do: 'use', candidate: known };
  const proven = firstOfUse(candidates.filter(({ proof }) => proof.is === 'Proven'));
  if (proven !== undefined) return { do: 'use', candidate: proven };
  if (before !== undefined && !isOver) return { do: 'await', candidate: known };
  const starting = candidates.find(({ proof }) => proof.is === 'Starting');
  if (starting !== undefined && !isOver) return { do: 'await', candidate: starting };
  return { do: 'none', unproven: candidates[0] };
}

/**
 * Chooses with the mode External, which makes nothing of its own: what was found is used also while it measures few nodes. What measures most
 * nodes goes first.
 */
export function chooseExternal<T>(candidates: readonly Candidate<T>[]): Candidate<T> | undefined {
  const proven = candidates.filter(({ proof }) => proof.is === 'Proven');
  return proven.find(isOfUse) ?? firstOfUse(candidates);
}

function firstOfUse<T>(candidates: readonly Candidate<T>[]): Candidate<T> | undefined {
  return candidates.find(isOfUse) ?? candidates[0];
}

function isOfUse({ problem }: Candidate<unknown>): boolean {
  return problem === undefined;
}
