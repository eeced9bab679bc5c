import { sleep } from '../../faults/measured.ts';
import type { Operator } from '../../integration/operator.ts';
import type { Figure } from '../figure.ts';
import { peakResidentBytes, residentBytes } from '../processUse.ts';
import type { World } from '../world.ts';

const MIB = 1024 ** 2;
/** Between two looks: garbage is collected now and then. */
const PAUSE_MS = 5_000;
/** The goals for these sizes; a further node may cost 5 KiB. */
const GOALS: Readonly<Record<number, number>> = { 10_000: 150, 50_000: 350 };

/** What the operator holds after everything that it was measured with. */
export async function measureMemory(world: World, operator: Operator, repetitions: number): Promise<Figure[]> {
  const resident: number[] = [];
  for (let n = 0; n < repetitions; n += 1) {
    await sleep(PAUSE_MS);
    resident.push(residentBytes(operator.pid) / MIB);
  }
  const goal = GOALS[world.nodes];
  return [
    {
      id: 'memory.resident',
      what: 'resident memory with one TrafficWatch',
      unit: 'MiB',
      samples: resident,
      ...(goal === undefined ? {} : { atMost: goal }),
    },
    {
      id: 'memory.peak',
      what: 'the most it ever was',
      unit: 'MiB',
      samples: [peakResidentBytes(operator.pid) / MIB],
    },
  ];
}
