import type { ComponentState } from '../../../../api/trafficstack/terms.ts';
import type { ComponentStatus } from '../../../../api/trafficstack/trafficStack.ts';
import type { Answer, Requery, Facts, ObservedComponent, TimedFacts } from '../../model/observation.ts';
import type { Blocker } from '../waiting.ts';

/** States of a component that neither changes nor waits for a change. */
const STABLE: ReadonlySet<ComponentState> = new Set(['Ready', 'Degraded', 'Failed']);

/**
 * Returns the answer to `ready.query` if it counts. A query that was sent before the pods became available says nothing about them: it is Pending,
 * and is sent again.
 *
 * | the component                                  | the query was sent             | counts |
 * |------------------------------------------------|--------------------------------|--------|
 * | was Ready with this revision, and so far is    | any time                       | yes    |
 * | is seen as available now, and was not before   | any time                       | no     |
 * | is available since a while                     | before that                    | no     |
 * | is available since a while                     | after that                     | yes    |
 */
export function readyAnswer(
  { spec, answer }: Pick<ObservedComponent, 'spec' | 'answer'>,
  { wasReady, seen }: { readonly wasReady: boolean; readonly seen?: TimedFacts | undefined },
): Answer | undefined {
  if (answer === undefined || wasReady) return answer;
  return sentAfter(answer, seen?.available.get(spec.name)?.at ?? Infinity);
}

/**
 * Returns the answer to `upgrade.query` for a component if it counts: the query was sent after all other components reached their state, except those
 * that are being changed. An answer from before the last wave must not admit the next one.
 *
 * @param before those that are decided already, by name
 */
export function gateAnswer(
  answer: Answer,
  component: string,
  { before, seen }: { readonly before: ReadonlyMap<string, Blocker>; readonly seen?: TimedFacts | undefined },
): Answer {
  const decided = [...before.values()].filter(({ status }) => STABLE.has(status.state));
  const times = decided.map(({ status }) => {
    const sighting = seen?.stable.get(status.name);
    return sighting?.as === stableAs(status) ? sighting.at : Infinity;
  });
  const later = [...(seen?.stable ?? [])].filter(([name]) => name !== component && !before.has(name));
  return sentAfter(answer, Math.max(-Infinity, ...times, ...later.map(([, { at }]) => at)));
}

function sentAfter(answer: Answer, since: number): Answer {
  return answer.is === 'Pending' || answer.sentAt >= since ? answer : { is: 'Pending', since };
}

/** Returns the facts about the components of a stack. */
export function factsOf(
  planned: readonly {
    readonly status: ComponentStatus;
    readonly isAvailable: boolean;
    readonly isAwaiting?: boolean;
  }[],
): Facts {
  const available = planned.filter(({ isAvailable }) => isAvailable);
  const stable = planned.filter(({ status }) => STABLE.has(status.state));
  return {
    available: new Map(available.map(({ status }) => [status.name, ''])),
    stable: new Map(stable.map(({ status }) => [status.name, stableAs(status)])),
    awaiting: new Map(planned.flatMap(({ isAwaiting, status }) => (isAwaiting === true ? [[status.name, '']] : []))),
  };
}

function stableAs({ state, revision = '' }: ComponentStatus): string {
  return `${state} ${revision}`;
}

/** Returns the earliest time of a useful answer, by query. */
export function requeriesOf(
  planned: readonly { readonly requery?: Requery | undefined }[],
): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const { requery } of planned)
    if (requery !== undefined) all.set(requery.query, Math.max(all.get(requery.query) ?? -Infinity, requery.since));
  return all;
}
