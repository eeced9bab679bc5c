import type { ComponentState } from '../../../../api/trafficstack/terms.ts';
import type { ComponentStatus } from '../../../../api/trafficstack/trafficStack.ts';
import type { Answer, AskAgain, Facts, ObservedComponent, Seen } from '../../observe/observation.ts';
import type { Blocker } from '../waiting.ts';

/** States of a component that is not being changed, and does not wait for a change. */
const SETTLED: ReadonlySet<ComponentState> = new Set(['Ready', 'Degraded', 'Failed']);

/**
 * The answer to `ready.query` as far as it counts. One to a query that was sent before the pods became available says nothing about
 * them: it is Pending, and asked again.
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
  { wasReady, seen }: { readonly wasReady: boolean; readonly seen?: Seen | undefined },
): Answer | undefined {
  if (answer === undefined || wasReady) return answer;
  return sentAfter(answer, seen?.available.get(spec.name)?.at ?? Infinity);
}

/**
 * The answer to `upgrade.query` for a component, as far as it counts: its query was sent after each other component had become what it is,
 * unless that one is being changed. So the next wave is not let through by what was true before the last one.
 *
 * @param before those that are decided already, by name
 */
export function gateAnswer(
  answer: Answer,
  component: string,
  { before, seen }: { readonly before: ReadonlyMap<string, Blocker>; readonly seen?: Seen | undefined },
): Answer {
  const decided = [...before.values()].filter(({ status }) => SETTLED.has(status.state));
  const times = decided.map(({ status }) => {
    const sighting = seen?.settled.get(status.name);
    return sighting?.as === settledAs(status) ? sighting.at : Infinity;
  });
  const later = [...(seen?.settled ?? [])].filter(([name]) => name !== component && !before.has(name));
  return sentAfter(answer, Math.max(-Infinity, ...times, ...later.map(([, { at }]) => at)));
}

function sentAfter(answer: Answer, since: number): Answer {
  return answer.is === 'Pending' || answer.askedAt >= since ? answer : { is: 'Pending', since };
}

/** What is seen of the components of a stack. */
export function factsOf(
  planned: readonly {
    readonly status: ComponentStatus;
    readonly isAvailable: boolean;
    readonly isAwaiting?: boolean;
  }[],
): Facts {
  const available = planned.filter(({ isAvailable }) => isAvailable);
  const settled = planned.filter(({ status }) => SETTLED.has(status.state));
  return {
    available: new Map(available.map(({ status }) => [status.name, ''])),
    settled: new Map(settled.map(({ status }) => [status.name, settledAs(status)])),
    awaiting: new Map(planned.flatMap(({ isAwaiting, status }) => (isAwaiting === true ? [[status.name, '']] : []))),
  };
}

function settledAs({ state, revision = '' }: ComponentStatus): string {
  return `${state} ${revision}`;
}

/** By query, since when an answer counts. */
export function askAgainOf(planned: readonly { readonly again?: AskAgain | undefined }[]): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const { again } of planned)
    if (again !== undefined) all.set(again.query, Math.max(all.get(again.query) ?? -Infinity, again.since));
  return all;
}
