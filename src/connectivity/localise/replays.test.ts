import { expect, it } from 'vitest';
import { localise } from './localise.ts';
import { seeded } from './testing/random.ts';
import { aReplay } from './testing/replay.ts';
import type { ClusterView } from './view.ts';

function isDual({ agents }: ClusterView): boolean {
  return agents.some(({ peers }) => new Set(peers.map(({ address }) => address)).size > 1);
}

it('has no finding in any step of 1,000 drains, scale-downs, scale-ups and upgrades', () => {
  const random = seeded(22);
  const alarms: string[] = [];
  let [steps, dual] = [0, 0];
  for (let replay = 0; replay < 1000; replay += 1) {
    for (const { name, view } of aReplay(random)) {
      steps += 1;
      if (isDual(view)) dual += 1;
      const { findings } = localise(view);
      alarms.push(...findings.map(({ class: findingClass, message }) => `${name}: ${findingClass}: ${message}`));
    }
  }
  console.log(`${steps} steps, ${dual} of them in dual-stack clusters, ${alarms.length} alarms`);
  expect(dual).toBeGreaterThan(1000);
  expect(alarms.slice(0, 5)).toEqual([]);
}, 300_000);
