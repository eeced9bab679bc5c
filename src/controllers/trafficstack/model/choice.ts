import type { ComponentSpec, ComponentStatus, UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import { NODES } from '../../../runtime/client/resources.ts';
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
  /** It has time to start. */
  | { readonly do: 'await'; readonly candidate: Candidate<T> }
  /** None of them. @property unproven the first one that is not used */
  | { readonly do: 'none'; readonly unproven: Candidate<T> | undefined };

/**
 * Chooses among what a search has found. The first name does not win, since only what measures most nodes counts.
 *
 * | one is proven | one is starting | the deadline has passed | choice         |
 * |---------------|-----------------|-------------------------|----------------|
 * | yes           | any             | any                     | use the proven |
 * | no            | yes             | no                      | await it       |
 * | no            | yes             | yes                     | none           |
 * | no            | no              | any                     | none           |
 *
 * Of several proven ones, the first without a problem is used, or else the first.
 *
 * @param candidates in their order
 * @param isOver whether the component has waited for as long as its deadline
 */
export function choose<T>(candidates: readonly Candidate<T>[], isOver: boolean): Choice<T> {
  const proven = firstOfUse(candidates.filter(({ proof }) => proof.is === 'Proven'));
  if (proven !== undefined) return { do: 'use', candidate: proven };
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

/** The kind in the status of a Prometheus that the spec names by its URL. */
export const URL_KIND = 'URL';

/**
 * Returns the object that a built-in component uses without a search. Undefined: the operator searches.
 *
 * | `external` in the spec | the status has `uses` | the component was ready with it | the spec named it | used       |
 * |------------------------|-----------------------|---------------------------------|-------------------|------------|
 * | yes                    | any                   | any                             | any               | `external` |
 * | no                     | yes                   | yes                             | no                | `uses`     |
 * | no                     | yes                   | yes                             | yes               | a search: the user has removed `external` |
 * | no                     | yes                   | no                              | any               | a search   |
 * | no                     | no                    | any                             | any               | a search   |
 *
 * @returns with the URL that was used last, so that the address in files is unchanged while a Service does not exist
 */
export function namedExternal(
  { external }: Pick<ComponentSpec, 'external'>,
  { uses, readyRevision }: Pick<ComponentStatus, 'uses' | 'readyRevision'> = {},
): UsedObject | undefined {
  if (external === undefined) return readyRevision === undefined || uses?.fromSpec === true ? undefined : uses;
  const { kind, namespace = '', url } = external;
  if (kind === undefined) return { kind: URL_KIND, namespace, name: new URL(url ?? '').host, url, fromSpec: true };
  const { name = '' } = external;
  // The status names the first node that answers.
  const isSame = uses?.kind === kind && (kind === NODES.kind || (uses.namespace === namespace && uses.name === name));
  return { kind, namespace, name, ...(isSame && uses), fromSpec: true };
}
