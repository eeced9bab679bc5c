import type { TrafficWatch, TrafficWatchStatus } from '../../../api/trafficwatch/schema.ts';
import { isEqual } from '../../../runtime/apply/mergePatch.ts';
import { keyOf } from '../../../runtime/client/resource.ts';

interface Kept {
  readonly uid: string | undefined;
  readonly meant: TrafficWatchStatus;
  /** What the API server made of it. */
  readonly kept: unknown;
}

/**
 * Statuses of which the API server did not keep all that was written: the schema of an older CRD drops the fields that
 * it does not know. What was meant is remembered here, as long as the object still is what the API server made of it,
 * so that it is neither written nor told again at every pass. Holds nothing where the CRD is that of this version.
 */
export class KeptStatuses {
  readonly #byKey = new Map<string, Kept>();

  /** @param answer the object as the API server has it after `meant` was written */
  wrote(meant: TrafficWatchStatus, answer: TrafficWatch): void {
    const key = keyOf(answer);
    if (isEqual(answer.status, meant)) this.#byKey.delete(key);
    else this.#byKey.set(key, { uid: answer.metadata?.uid, meant, kept: answer.status });
  }

  /** The object with the status that was meant; the object itself where nothing else was, or others have written since. */
  asMeant(watch: TrafficWatch): TrafficWatch {
    const known = this.#byKey.get(keyOf(watch));
    const stands = known !== undefined && known.uid === watch.metadata?.uid && isEqual(known.kept, watch.status);
    return stands ? { ...watch, status: known.meant } : watch;
  }

  /** The object is gone. */
  deleted(watch: TrafficWatch): void {
    this.#byKey.delete(keyOf(watch));
  }
}
