import { ComponentReason as Reason } from '../../../../api/trafficstack/reasons.ts';
import type { ComponentStatus } from '../../../../api/trafficstack/trafficStack.ts';
import { metaTime } from '../../../../runtime/controller/conditions.ts';
import type { AskAgain, Observation, ObservedComponent } from '../../observe/observation.ts';
import { unmetAnswer } from '../present/unmet.ts';
import type { Blocker, Waiting } from '../waiting.ts';
import { gateAnswer } from './freshness.ts';

const FIELD = 'upgrade.query';

/**
 * What keeps a change at the gate of upgrades; undefined if there is none, or its query is true. Without an answer it is closed. An answer
 * counts only if its query was sent after the wave before: see freshness.ts.
 */
export function holdAtGate(
  { spec: { name } }: Pick<ObservedComponent, 'spec'>,
  around: Pick<Observation, 'gate' | 'seen' | 'now'> & {
    readonly before: ReadonlyMap<string, Blocker>;
    readonly prior: ComponentStatus | undefined;
  },
): (Waiting & { readonly again?: AskAgain }) | undefined {
  const { gate, prior, now } = around;
  if (gate === undefined) return undefined;
  const answer = gateAnswer(gate.answer, name, around);
  const unmet = unmetAnswer({ query: gate.query, answer }, FIELD, false);
  if (unmet === undefined) return undefined;
  const { message: observed, again } = unmet;
  const before = prior?.waitingOn;
  const since = before?.component === name && before.what === FIELD ? before.since : metaTime(now);
  return {
    ...{ state: 'Waiting', reason: Reason.WaitingForGate, message: `waits to be changed: ${observed}` },
    waitingOn: { component: name, what: FIELD, observed, since },
    ...(again && { again }),
  };
}
