import { isInvalid } from '../../runtime/client/errors.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../runtime/client/resources.ts';
import type { Failure } from '../../runtime/objectSet/act.ts';
import { idOf } from '../../runtime/objectSet/member.ts';
import { writeProblem } from '../../runtime/objectSet/problem.ts';
import type { Problem } from '../../runtime/process/problem.ts';

/** The problem that a failed write is. */
export function problemOf({ member, error }: Failure): Problem {
  if (member.resource.kind === PERSISTENT_VOLUME_CLAIMS.kind && isInvalid(error)) {
    return { reason: 'VolumeNotChanged', object: idOf(member), message: volumeAdvice(error.detail) };
  }
  return writeProblem(member, error);
}

/** Of a claim, the API server lets nothing be changed but its size, and that only up. */
function volumeAdvice(detail: string): string {
  return `${detail}; a claim can only grow, where its StorageClass allows that, and keeps its StorageClass: set --prometheus-storage-size and --prometheus-storage-class as they were, or delete the claim, with all samples in it, and the operator makes it anew`;
}
