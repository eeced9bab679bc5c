import { sleep } from '../../harness/measured.ts';
import type { Figure } from '../figure.ts';
import { cpuSeconds, residentBytes } from '../../harness/processUse.ts';
import { DEFAULT_INTERVAL_MS, type World } from '../world.ts';
import { settled } from './steady.ts';

const MIB = 1024 ** 2;
/** Three passes at the default interval. */
const LOOK_MS = 30_000;

/** An operator on a cluster without changes, at its default interval. */
export async function measureIdle(world: World, repetitions: number): Promise<Figure[]> {
  const operator = await world.startOperator({ intervalMs: DEFAULT_INTERVAL_MS });
  await world.createWatch('idle');
  await settled(world, 'idle');
  const resident: number[] = [];
  const cpu: number[] = [];
  await sleep(LOOK_MS); // what a start leaves behind is not idleness
  for (let n = 0; n < repetitions; n += 1) {
    const begin = cpuSeconds(operator.pid);
    const from = performance.now();
    await sleep(LOOK_MS);
    cpu.push((100 * 1000 * (cpuSeconds(operator.pid) - begin)) / (performance.now() - from));
    resident.push(residentBytes(operator.pid) / MIB);
  }
  await operator.terminate();
  return [
    {
      id: 'idle.resident',
      what: `resident memory with ${world.nodes} nodes`,
      unit: 'MiB',
      samples: resident,
      atMost: 90,
    },
    { id: 'idle.cpu', what: `CPU with ${world.nodes} nodes`, unit: '% of a core', samples: cpu, atMost: 0.5 },
  ];
}
