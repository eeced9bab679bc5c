import { NotLeaderError, RetryError, WaitingError } from '../../runtime/client/errors.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';

/** Until the stack `default` is made again, if that has failed. ms */
const AGAIN_MS = 30_000;

/**
 * What exists of the stack `default` is reconciled also if it cannot be made as the flags say.
 *
 * @throws what `make` throws, after that
 */
export async function reconcileDefault(
  make: () => Promise<void>,
  reconcileIt: () => Promise<ReconcileResult | undefined>,
): Promise<ReconcileResult | undefined> {
  const failure = await make().then(() => undefined, asError);
  const result = await reconcileIt();
  if (failure === undefined) return result;
  if (failure instanceof WaitingError || failure instanceof NotLeaderError) throw failure;
  const { requeueAfterMs = AGAIN_MS } = result ?? {};
  const message = `the TrafficStack default cannot be made: ${failure.message}`;
  throw new RetryError(message, Math.min(requeueAfterMs, AGAIN_MS), { cause: failure });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
