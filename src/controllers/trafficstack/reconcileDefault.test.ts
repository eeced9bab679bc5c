import { expect, it } from 'vitest';
import { ApiError, NotLeaderError, RetryError, WaitingError } from '../../runtime/client/errors.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import { reconcileDefault } from './run.ts';

const REFUSED = new ApiError({
  status: 422,
  reason: 'Invalid',
  method: 'POST',
  path: 'trafficstacks',
  detail: 'spec: old',
});

/** Whether it was reconciled, and what came of it. */
async function run(failure: Error | undefined, result?: ReconcileResult) {
  let reconciled = 0;
  const make = () => (failure === undefined ? Promise.resolve() : Promise.reject(failure));
  const work = () => {
    reconciled += 1;
    return Promise.resolve(result);
  };
  const outcome = await reconcileDefault(make, work).catch((error: unknown) => error);
  return { reconciled, outcome };
}

it('is what the reconcile says, if it can be made', async () => {
  expect(await run(undefined, { requeueAfterMs: 5 })).toEqual({ reconciled: 1, outcome: { requeueAfterMs: 5 } });
});

it.each([
  [undefined, 30_000],
  [{ requeueAfterMs: 300_000 }, 30_000],
  [{ requeueAfterMs: 2_000 }, 2_000],
])(
  'the existing stack is reconciled if it cannot be made, and the failure is reported: %j',
  async (result, retryAfterMs) => {
    const { reconciled, outcome } = await run(REFUSED, result);
    expect(reconciled).toBe(1);
    expect(outcome).toBeInstanceOf(RetryError);
    expect(outcome).toMatchObject({ retryAfterMs, cause: REFUSED });
    expect((outcome as Error).message).toMatch(/^the TrafficStack default cannot be made: .*422 Invalid: spec: old/);
  },
);

it.each([new WaitingError('Conflict', '', 200), new NotLeaderError()])(
  'it waits as it is asked to: %s',
  async (error) => {
    expect(await run(error)).toEqual({ reconciled: 1, outcome: error });
  },
);
