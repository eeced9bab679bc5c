import { describe, expect, it } from 'vitest';
import type { StatedCapacity } from '../../nodes/statedCapacity.ts';
import { device, PassScene } from '../pass/testing/passScene.ts';
import type { NodeUsage } from './percent.ts';

/** The usage of a node that sends 5 B/s over a device without a speed, with this label. */
async function usageWith(text: string): Promise<NodeUsage | undefined> {
  const scene = new PassScene();
  scene.prometheus.devices = [device('a', 'eth0', { speed: undefined })];
  const capacity: StatedCapacity = { source: 'Label', key: 'example.com/mbits', text };
  return (await scene.next({ a: { capacity } })).nodes.get('a');
}

describe('the capacity label', () => {
  it('replaces the speed of a device that reports none, in the first pass', async () => {
    const usage = await usageWith('0.0008');
    expect(usage).toMatchObject({ percent: 5, capacityBytesPerSecond: 100, capacitySource: 'Label' });
  });

  it('is named if it is not valid, and gives no percent', async () => {
    const usage = await usageWith('fast');
    expect(usage).toMatchObject({
      reason: 'InvalidCapacity',
      message: expect.stringMatching(
        /^the capacity label example\.com\/mbits="fast" is invalid: it must be a decimal number of Mbit\/s above 0/,
      ) as string,
    });
    expect(usage).not.toHaveProperty('percent');
    expect(usage).not.toHaveProperty('capacitySource');
  });
});
