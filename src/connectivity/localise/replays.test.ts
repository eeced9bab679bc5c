import { expect, it } from 'vitest';
import { sampleSize } from '../../runtime/testing/sampleSize.ts';
import { localise } from './localise.ts';
import { seeded } from './testing/random.ts';
import { aReplay } from './testing/replay.ts';
import type { ClusterView } from './view.ts';

function isDual({ agents }: ClusterView): boolean {
  return agents.some(({ peers }) => new Set(peers.map(({ address }) => address)).size > 1);
}

/** Drains, scale-downs and upgrades. */
const REPLAYS = sampleSize({ quick: 40, full: 1_000 });

it('has no finding in any step of drains, scale-downs and upgrades, and of the scale-ups between them', () => {
  const random = seeded(22);
  const alarms: string[] = [];
  let [replays, steps, dual] = [0, 0, 0];
  while (replays < REPLAYS) {
    const replay = aReplay(random);
    if (!replay.some(({ name }) => name.startsWith('scaleUp '))) replays += 1;
    for (const { name, view } of replay) {
      steps += 1;
      if (isDual(view)) dual += 1;
      const { findings } = localise(view);
      alarms.push(...findings.map(({ class: findingClass, message }) => `${name}: ${findingClass}: ${message}`));
    }
  }
  console.log(`${steps} steps, ${dual} of them in dual-stack clusters, ${alarms.length} alarms`);
  expect(dual).toBeGreaterThan(REPLAYS);
  expect(alarms.slice(0, 5)).toEqual([]);
}, 300_000);
