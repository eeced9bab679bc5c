import { ComponentReason as Reason } from '../../../../api/trafficstack/reasons.ts';
import type { ComponentStatus } from '../../../../api/trafficstack/trafficStack.ts';
import { CONTROLLER_REVISIONS } from '../../../../runtime/client/resources.ts';
import type { Observation, ObservedComponent } from '../../observe/observation.ts';
import { quoted, unmetAnswer } from '../unmet.ts';

/**
 * What holds a component whose objects differ from the spec at the gate of upgrades; undefined if nothing does.
 *
 * | its objects                                    | the query         | held |
 * |------------------------------------------------|-------------------|------|
 * | one exists and differs from the spec           | is true           | no   |
 * | one exists and differs from the spec           | anything else, also without an answer | yes |
 * | some are missing, older ones of it exist, as after a new name of the workload | not true | yes |
 * | some are missing: it is new, or somebody deleted one | any         | no   |
 */
export function holdAtGate(
  { spec, objects }: Pick<ObservedComponent, 'spec' | 'objects'>,
  { gate, left }: Pick<Observation, 'gate' | 'left'>,
): Pick<ComponentStatus, 'state' | 'reason' | 'message'> | undefined {
  if (gate === undefined) return undefined;
  const isChange = objects.some(({ live, isCurrent }) => live !== undefined && !isCurrent);
  const isReplaced = left.some(
    ({ component, resource }) => component === spec.name && resource.kind !== CONTROLLER_REVISIONS.kind,
  );
  if (!isChange && !isReplaced) return undefined;
  const unmet = unmetAnswer(gate.answer, `upgrade.query ${quoted(gate.query)}`, false);
  if (unmet === undefined) return undefined;
  return { state: 'Waiting', reason: Reason.WaitingForGate, message: `waits to be changed: ${unmet.message}` };
}
