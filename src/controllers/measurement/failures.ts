import { isInvalid } from '../../runtime/client/errors.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../runtime/client/resources.ts';
import type { Failure } from '../../runtime/objectSet/act.ts';
import { idOf } from '../../runtime/objectSet/objectSet.ts';
import { writeProblem } from '../../runtime/objectSet/plan.ts';
import type { Problem } from '../../runtime/process/problem.ts';

/** Converts a failed write into a problem. */
export function problemOf({ member, error }: Failure): Problem {
  if (member.resource.kind === PERSISTENT_VOLUME_CLAIMS.kind && isInvalid(error)) {
    return { reason: 'VolumeNotChanged', object: idOf(member), message: volumeAdvice(error.detail) };
  }
  return writeProblem(member, error);
}

/** Returns the message about a changed claim that the API server rejects. Only its size can change, and only grow. */
function volumeAdvice(detail: string): string {
  return `${detail}; a claim can only grow, if its StorageClass allows that, and cannot change its StorageClass: restore --prometheus-storage-size and --prometheus-storage-class (or prometheus.storage in the TrafficStack), or delete the claim with all its samples, and the operator creates it again`;
}
