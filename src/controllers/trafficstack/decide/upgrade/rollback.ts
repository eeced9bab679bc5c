import type { V1Deployment } from '@kubernetes/client-node';
import { ComponentReason as Reason } from '../../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, RolledBackFrom } from '../../../../api/trafficstack/trafficStack.ts';
import { appliedHash } from '../../../../runtime/apply/difference.ts';
import type { KubeObject } from '../../../../runtime/client/resource.ts';
import type { ObservedComponent } from '../../observe/observation.ts';
import type { DesiredObject } from '../../render/objects.ts';
import type { StoredRevision } from '../../render/storedRevision.ts';

type Told = Pick<ComponentStatus, 'state' | 'reason' | 'message'>;

/**
 * The status of a component that has missed its deadline, with the revision that has failed if its last ready one is to be restored.
 * That is done by the next reconcile, after the status is stored.
 *
 * | the component                                        | restored |
 * |------------------------------------------------------|----------|
 * | was never ready, or cannot be rolled back            | no       |
 * | was ready with this very revision, or these very objects but for the number of pods | no |
 * | has a query that is not asked yet, as after a restart, or since its pods are available | not yet |
 * | has available pods, and a query that a setting keeps from being sent: nothing says that it failed | no |
 * | was ready with another revision                      | yes      |
 */
export function beginRollback(
  component: ObservedComponent,
  status: ComponentStatus,
  isAvailable: boolean,
): ComponentStatus {
  const { stored, revision, answer } = component;
  if (isAvailable && answer?.is === 'Unknown' && answer.isNotSent === true) return status;
  if (status.state !== 'Failed' || status.reason === Reason.ForeignObject || stored === undefined) return status;
  if (stored.revision === revision || isSame(component, stored) || answer?.is === 'Pending') return status;
  const { version, message } = status;
  const rolledBackFrom: RolledBackFrom = { revision, ...(version !== undefined && { version }), message };
  return { ...status, reason: Reason.RollingBack, rolledBackFrom };
}

/** Whether only the numbers of pods differ: to take more pods back would help none of them, and to bring back fewer would undo what a person asked for. */
function isSame(component: ObservedComponent, stored: StoredRevision): boolean {
  const hashes = (list: readonly DesiredObject[]) =>
    list.map(({ object }) => appliedHash(withoutReplicas(object))).join();
  return hashes(component.objects) === hashes(stored.objects);
}

function withoutReplicas(object: KubeObject): KubeObject {
  const { replicas: _, ...spec } = (object as V1Deployment).spec ?? {};
  return { ...object, spec } as KubeObject;
}

/** The state of a component whose last ready revision is restored. @param present what is seen of its objects */
export function restoredState({ revision }: ObservedComponent, from: RolledBackFrom, present: Told): Told {
  const failed = `revision ${from.revision} failed: ${from.message}`;
  const [reason, verb] = present.state === 'Ready' ? [Reason.RolledBack, 'rolled'] : [Reason.RollingBack, 'rolling'];
  return { state: 'Failed', reason, message: `${verb} back to revision ${revision}: ${present.message}; ${failed}` };
}

/** The state of a component whose last ready revision is to be restored, and is gone. */
export function lostState(from: RolledBackFrom): Told {
  const message = `its last ready revision is stored no more: its objects are left as they are; revision ${from.revision} failed: ${from.message}`;
  return { state: 'Failed', reason: Reason.RevisionMissing, message };
}
