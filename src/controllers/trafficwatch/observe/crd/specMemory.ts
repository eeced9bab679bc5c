import { firstOf } from '../../../../runtime/status/cut.ts';
import { lostFields } from '../../../../api/lostFields.ts';
import { ConditionType, Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { TrafficWatch } from '../../../../api/trafficwatch/schema.ts';
import { keyOf } from '../../../../runtime/client/resource.ts';
import { findCondition } from '../../../../runtime/controller/conditions.ts';
import { APPLY_CRD } from '../../../../api/installCrd.ts';

/** Maximum number of fields in a message. */
const NAMED_AT_MOST = 10;

interface Seen {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  readonly spec: TrafficWatch['spec'];
}

/**
 * Remembers the spec of each TrafficWatch, to find fields that are missing although nobody removed them. A user who
 * changes a spec gets a new generation. A CRD that is replaced by an older one drops fields of the same generation:
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning. The
 * next write of the object, such as a write of its status, drops them from the storage too, so they stay lost when the
 * CRD has them again.
 */
export class SpecMemory {
  readonly #seen = new Map<string, Seen>();

  /**
   * The problem of a spec that has lost fields, for users. Undefined if it has lost none.
   *
   * | spec, compared with the one seen last                | condition Stalled            | result                |
   * |------------------------------------------------------|------------------------------|-----------------------|
   * | another object or generation                         | any                          | none: a user changed it |
   * | the same generation, without some of the fields      | any                          | names the fields      |
   * | the same generation, with all fields                 | any                          | none                  |
   * | not seen yet by this process                         | SpecFieldsLost, same generation | as the condition says |
   * | not seen yet by this process                         | any other                    | none                  |
   *
   * @param isComplete whether the CRD is known to keep all fields; otherwise the spec is not remembered
   */
  problemOf(watch: TrafficWatch, isComplete: boolean): string | undefined {
    const { uid, generation, deletionTimestamp } = watch.metadata ?? {};
    if (deletionTimestamp !== undefined || generation === undefined) return undefined;
    const key = keyOf(watch);
    const seen = this.#seen.get(key);
    const isSame = seen !== undefined && seen.uid === uid && seen.generation === generation;
    if (!isSame) {
      const reported = reportedProblem(watch);
      if (isComplete && reported === undefined) this.#seen.set(key, { uid, generation, spec: watch.spec });
      return reported;
    }
    // The same object in most passes.
    if (seen.spec === watch.spec) return undefined;
    const lost = lostFields(seen.spec, watch.spec, 'spec');
    if (lost.length > 0) return messageOf(lost);
    if (isComplete) this.#seen.set(key, { uid, generation, spec: watch.spec });
    return undefined;
  }

  /** Call when the TrafficWatch of this key is deleted. */
  forget(key: string): void {
    this.#seen.delete(key);
  }
}

/** Returns the problem that an earlier process has reported about this generation. */
function reportedProblem({ metadata, status }: TrafficWatch): string | undefined {
  const stalled = findCondition(status?.conditions, ConditionType.Stalled);
  const isReported = stalled?.status === 'True' && stalled.reason === Reason.SpecFieldsLost;
  return isReported && stalled.observedGeneration === metadata?.generation ? stalled.message : undefined;
}

function messageOf(lost: readonly string[]): string {
  const fields = firstOf(lost, NAMED_AT_MOST);
  return `the API server dropped ${fields}, because the CRD was replaced by an older one; if it still is, apply the CRD of this version: ${APPLY_CRD}; then apply the TrafficWatch again`;
}
