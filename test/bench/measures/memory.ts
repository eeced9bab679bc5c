import { sleep } from '../../harness/measured.ts';
import type { Operator } from '../../harness/operator.ts';
import type { Effort } from '../effort.ts';
import type { Figure } from '../figure.ts';
import { peakResidentBytes, residentBytes } from '../../harness/processUse.ts';
import type { World } from '../world.ts';

const MIB = 1024 ** 2;
/** Interval of samples. V8 collects from time to time, and checks every 8 s whether it can release memory. */
const PAUSE_MS = 10_000;
/** The goals for these sizes; each further node may cost 5 KiB. */
const GOALS: Readonly<Record<number, number>> = { 10_000: 150, 50_000: 350 };

/** Memory of an operator with one TrafficWatch after all its measurements. */
export async function measureMemory(world: World, operator: Operator, repetitions: number): Promise<Figure[]> {
  const goal = GOALS[world.nodes];
  return [
    {
      id: 'memory.resident',
      what: 'resident memory with one TrafficWatch, after labelling and flips',
      unit: 'MiB',
      samples: await looks(operator, repetitions),
      ...(goal === undefined ? {} : { atMost: goal }),
    },
    {
      id: 'memory.peak',
      what: 'peak resident memory',
      unit: 'MiB',
      samples: [peakResidentBytes(operator.pid) / MIB],
    },
  ];
}

/** The same for an operator that started with labelled nodes. */
export async function measureMemoryOften(operator: Operator, effort: Effort): Promise<Figure[]> {
  const what = `resident memory with a pass every ${effort.intervalMs / 1000} s, nodes already labelled`;
  return [{ id: 'memory.often', what, unit: 'MiB', samples: await looks(operator, effort.repetitions) }];
}

async function looks(operator: Operator, count: number): Promise<number[]> {
  const resident: number[] = [];
  while (resident.length < count) {
    await sleep(PAUSE_MS);
    resident.push(residentBytes(operator.pid) / MIB);
  }
  return resident;
}
