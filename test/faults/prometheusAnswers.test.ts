import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as lies from './lyingAnswers.ts';
import { LyingScene, type LieRow } from './lyingScene.ts';
import { measured } from '../harness/measured.ts';

/** A Prometheus that answers late, wrongly or not at all, as the operator's process meets it. */

const LATE_MS = 60_000;

let scene: LyingScene;
beforeAll(async () => {
  scene = await LyingScene.start(['--interval=2s']);
});
afterAll(() => scene.stop());

describe('labels stay, and the condition has the reason, when Prometheus', () => {
  it.each<LieRow>([
    { name: 'answers with HTML and 502', lie: lies.badGateway, reason: 'PrometheusBadStatus' },
    { name: 'answers with garbage', lie: lies.garbage, reason: 'PrometheusBadAnswer' },
    { name: 'answers with another shape', lie: lies.matrix, reason: 'PrometheusBadAnswer' },
    { name: 'breaks off', lie: lies.truncated, reason: 'PrometheusUnreachable' },
  ])('$name', (row) => scene.lieFor(row));

  it('answers after a minute, and what nobody waits for is called off', async () => {
    let [most, last] = [0, performance.now()];
    const count = setInterval(() => {
      const since = last;
      last = performance.now();
      // After a pause of this process, it has yet to read which questions were called off.
      if (last - since < 500) most = Math.max(most, scene.prometheus.held);
    }, 50);
    await scene.lieFor({ name: 'answers after 60 s', lie: lies.late(LATE_MS), reason: 'PrometheusDeadline' });
    clearInterval(count);
    measured(`answers after 60 s: at most ${most} questions were open at once`);
    // Two of a pass, two that are asked besides.
    expect(most).toBeLessThanOrEqual(4);
  });

  it('is gone', async () => {
    const versions = await scene.f.nodeVersions();
    await scene.prometheus.refuse();
    const message = await scene.seenAs('PrometheusUnreachable');
    await scene.expectUntouched(versions);
    await scene.prometheus.listen();
    await scene.expectRecovery('is gone', versions);
    expect(message).toContain('ECONNREFUSED');
  });
});

it('the process is the same as before, and has logged no error of its own', () => scene.expectCleanLog());
