import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as lies from './lyingAnswers.ts';
import { LyingScene } from './lyingScene.ts';
import { measured } from '../harness/measured.ts';

/** A Prometheus whose answers are larger than any can be, as the operator's process meets it. */

/** The most that is taken of one answer: the limit, and the buffers of two sockets and of both processes. */
const MOST_TAKEN_MIB = 48;

let scene: LyingScene;
beforeAll(async () => {
  // Half a dozen answers of 32 MiB may take a busy machine longer than the 8 s that a pass may last at the default interval of 10 s.
  scene = await LyingScene.start(['--interval=30s']);
});
afterAll(() => scene.stop());

describe('labels stay, and the condition has the reason, when Prometheus', () => {
  it('answers 100 MiB compressed', () =>
    scene.lieFor({ name: 'answers 100 MiB compressed', lie: lies.compressed(100), reason: 'PrometheusTooLarge' }));

  it.each([
    ['answers 100 MiB', 100],
    ['answers without end', Infinity],
  ])('%s, which is not taken', async (name, mebibytes) => {
    let most = 0;
    const lie = lies.large(mebibytes, (taken) => (most = Math.max(most, taken)));
    await scene.lieFor({ name, lie, reason: 'PrometheusTooLarge' });
    measured(`${name}: ${most} MiB of an answer were taken`);
    expect(most).toBeLessThan(MOST_TAKEN_MIB);
  });
});

it('the process is the same as before, and has logged no error of its own', () => scene.expectCleanLog());
