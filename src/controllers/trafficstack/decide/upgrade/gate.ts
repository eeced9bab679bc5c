import { ComponentReason as Reason } from '../../../../api/trafficstack/reasons.ts';
import type { ComponentStatus } from '../../../../api/trafficstack/trafficStack.ts';
import { CONTROLLER_REVISIONS } from '../../../../runtime/client/resources.ts';
import type { AskAgain, Observation, ObservedComponent } from '../../observe/observation.ts';
import { unmetAnswer } from '../unmet.ts';
import type { Blocker } from '../waiting.ts';
import { gateAnswer } from './freshness.ts';

/**
 * What holds a component whose objects differ from the spec at the gate of upgrades; undefined if nothing does.
 *
 * | its objects                                    | the query         | held |
 * |------------------------------------------------|-------------------|------|
 * | one exists and differs from the spec           | is true           | no   |
 * | one exists and differs from the spec           | anything else, also without an answer | yes |
 * | some are missing, older ones of it exist, as after a new name of the workload | not true | yes |
 * | some are missing: it is new, or somebody deleted one | any         | no   |
 *
 * An answer counts only if its query was sent after the wave before: see freshness.ts.
 */
export function holdAtGate(
  { spec, objects }: Pick<ObservedComponent, 'spec' | 'objects'>,
  around: Pick<Observation, 'gate' | 'left' | 'seen'> & { readonly before: ReadonlyMap<string, Blocker> },
): (Pick<ComponentStatus, 'state' | 'reason' | 'message'> & { readonly again?: AskAgain }) | undefined {
  const { gate, left } = around;
  if (gate === undefined) return undefined;
  const isChange = objects.some(({ live, isCurrent }) => live !== undefined && !isCurrent);
  const isReplaced = left.some(
    ({ component, resource }) => component === spec.name && resource.kind !== CONTROLLER_REVISIONS.kind,
  );
  if (!isChange && !isReplaced) return undefined;
  const answer = gateAnswer(gate.answer, spec.name, around);
  const unmet = unmetAnswer({ query: gate.query, answer }, 'upgrade.query', false);
  if (unmet === undefined) return undefined;
  const { message, again } = unmet;
  return {
    ...{ state: 'Waiting', reason: Reason.WaitingForGate, message: `waits to be changed: ${message}` },
    ...(again && { again }),
  };
}
