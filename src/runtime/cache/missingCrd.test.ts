import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { ApiError } from '../client/errors.ts';
import { NODES } from '../client/resources.ts';
import { createLogger } from '../process/logger.ts';
import { castReflector, refusing, until, type ReflectorCast } from '../testing/reflectorScene.ts';
import { createScene, type Scene } from '../testing/scene.ts';
import { logMissingCrd } from './informer.ts';

let scene: Scene;
beforeAll(() => {
  scene = createScene();
});
afterEach(() => scene.close());

const logger = createLogger('silent');
const [error, warn, info] = (['error', 'warn', 'info'] as const).map((level) => vi.spyOn(logger, level));

const lines = (spy: typeof error): unknown[] => spy!.mock.calls.map((call: readonly unknown[]) => call[1]);
const endings = ({ metrics }: ReflectorCast): number => metrics.watchEnded.mock.calls.length;

/** An informer whose resource is not served for its first lists. */
async function castMissing(lists: number): Promise<ReflectorCast> {
  for (const spy of [error, warn, info]) spy!.mockClear();
  return castReflector(scene, {
    logger,
    onRefusal: logMissingCrd({ resource: NODES, logger, waiting: 'the server', advice: 'apply it' }),
    prepare: (nodes) => {
      nodes.behaviour.next = Array.from({ length: lists }, () => refusing(404));
    },
  });
}

it('logs once that the CRD is missing, once that it is there, and asks ever less often in between', async () => {
  const cast = await castMissing(8);
  await until(cast, () => expect(endings(cast)).toBe(6), 250);
  expect(lines(error)).toEqual(['the CRD is not installed, and the server waits for it: apply it']);
  expect(lines(warn)).toEqual(['watch ended']);
  // Five pauses of 1, 2, 4, 8 and 16 s, each between half and all of it.
  expect(cast.clock.monotonic()).toBeGreaterThanOrEqual(15_000);
  expect(lines(info)).toEqual([]);
  // The server has the watch before the reflector has the answer.
  await until(cast, () => expect(lines(info)).toEqual(['the CRD is installed']), 250);
  expect(cast.nodes.openWatches).toBe(1);
  expect(lines(error)).toHaveLength(1);
});

it('logs a refusal again after a watch that worked', async () => {
  const cast = await castMissing(2);
  await until(cast, () => expect(cast.nodes.openWatches).toBe(1));
  cast.nodes.behaviour.next = [refusing(404)];
  cast.nodes.endAll();
  await until(cast, () => expect(endings(cast)).toBe(4), 250);
  expect(lines(error)).toHaveLength(2);
  expect(lines(warn)).toEqual(['watch ended', 'watch ended']);
});

it('says nothing of a CRD that was not missing, and nothing twice', () => {
  for (const spy of [error, warn, info]) spy!.mockClear();
  const refusalOf = (status: number): ApiError => new ApiError({ status, reason: 'No', method: 'GET', path: '/' });
  const log = logMissingCrd({ resource: NODES, logger, waiting: 'the server', advice: 'apply it' });
  for (const refusal of [refusalOf(403), undefined]) log(refusal);
  expect([...lines(error), ...lines(info)]).toEqual([]);
  for (const refusal of [refusalOf(404), refusalOf(404), refusalOf(403), undefined]) log(refusal);
  expect([lines(error).length, lines(info)]).toEqual([1, ['the CRD is installed']]);
});
