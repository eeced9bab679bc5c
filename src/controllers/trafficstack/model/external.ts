import type { ComponentSpec, ComponentStatus, UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import { NODES } from '../../../runtime/client/resources.ts';
import type { Proof } from '../../contract/builtIn.ts';
import type { ListeningNodes, ObservedComponent, ObservedExternal, ObservedObject } from './observation.ts';

/** An object of another owner that a built-in component may use. */
export interface Candidate<T> {
  readonly live: T;
  readonly proof: Proof;
  /** Why it is unusable although it measures the nodes: a sentence without its subject. */
  readonly problem?: string | undefined;
}

/** The choice of a built-in component with the mode Auto. */
type Choice<T> =
  | { readonly do: 'use'; readonly candidate: Candidate<T> }
  /** The candidate has time to start. */
  | { readonly do: 'await'; readonly candidate: Candidate<T> }
  /** No candidate is used. @property unproven the first one that is not used */
  | { readonly do: 'none'; readonly unproven: Candidate<T> | undefined };

/**
 * Chooses among the objects that a search has found. The order of names does not decide: a candidate must measure most nodes.
 *
 * | one is proven | one is starting | the deadline has passed | choice         |
 * |---------------|-----------------|-------------------------|----------------|
 * | yes           | any             | any                     | use the proven |
 * | no            | yes             | no                      | await it       |
 * | no            | yes             | yes                     | none           |
 * | no            | no              | any                     | none           |
 *
 * The first proven candidate without a problem is used, otherwise the first proven one.
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

/** Chooses with the mode External, which deploys nothing: a candidate may measure few nodes. One that measures most nodes comes first. */
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

/** The kind in the status of a Prometheus that the spec names by URL. */
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

/**
 * Returns the object of another owner that a built-in component uses, or the first node with a program that it uses. A named object stays in use
 * while it does not answer or does not exist.
 *
 * @param before what it has used until now
 */
export function usesOf({ objects, external }: ObservedComponent, before?: UsedObject): Pick<ComponentStatus, 'uses'> {
  const uses = external === undefined ? undefined : usedIn(external, objects.at(-1), before);
  return uses === undefined ? {} : { uses };
}

function usedIn(
  { awaited, listening, problem, named, server }: ObservedExternal,
  object: ObservedObject | undefined,
  before: UsedObject | undefined,
): UsedObject | undefined {
  const mark = named?.fromSpec === true ? ({ fromSpec: true } as const) : {};
  if (awaited !== undefined) return undefined;
  if (listening !== undefined) return { ...nodeOf(listening, before), ...mark };
  const isUsed = object?.live !== undefined && (problem === undefined || server !== undefined);
  if (!isUsed) return named;
  const { namespace = '', name = '' } = object.object.metadata ?? {};
  return { kind: object.resource.kind, namespace, name, ...(server && { url: server.url }), ...mark };
}

/** Returns the node that was named before, while it answers or none does. */
function nodeOf({ answering: [first = '', ...others] }: ListeningNodes, before: UsedObject | undefined): UsedObject {
  const isUnchanged = before?.kind === NODES.kind && (first === '' || [first, ...others].includes(before.name));
  return { kind: NODES.kind, namespace: '', name: isUnchanged ? before.name : first };
}
