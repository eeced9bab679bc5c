import type { Figure } from '../figure.ts';

const KIB = 1_024;

/** The measured values; a list has one entry for each repetition. */
export interface Measured {
  readonly ingresses: number;
  readonly quietSeconds: number;
  /** Resident memory without Ingresses, bytes. */
  readonly empty: number;
  /** From the change of the weight to the answer of the last PATCH, ms. */
  readonly took: readonly number[];
  /** The same PATCHes alone, ms. */
  readonly bare: readonly number[];
  /** CPU time of the change, s. */
  readonly cpu: readonly number[];
  /** Resident memory, bytes. */
  readonly memory: readonly number[];
  /** Writes while nothing changed. */
  readonly quiet: readonly number[];
}

/** The figures, with the goals of a change and of a quiet time. */
export function figuresOf({ ingresses, quietSeconds, empty, ...samples }: Measured): Figure[] {
  const { took, bare, cpu, memory, quiet } = samples;
  const what = `${ingresses.toLocaleString('en')} Ingresses`;
  return [
    {
      id: 'weights.change',
      what: `a changed weight is in the DNSEndpoints of ${what}`,
      unit: 's',
      samples: took.map((ms) => ms / 1_000),
      limit: { what: 'the same PATCHes alone', samples: bare.map((ms) => ms / 1_000), atMostTimes: 1.3 },
    },
    { id: 'weights.cpu', what: 'CPU time of the change', unit: 's', samples: cpu },
    { id: 'weights.quiet', what: `writes in a quiet ${quietSeconds} s`, unit: 'calls', samples: quiet, atMost: 0 },
    {
      id: 'weights.memory',
      what: `resident memory with ${what}`,
      unit: 'MiB',
      samples: memory.map((bytes) => bytes / KIB / KIB),
    },
    {
      id: 'weights.perIngress',
      what: 'memory of one Ingress',
      unit: 'KiB',
      samples: memory.map((bytes) => (bytes - empty) / KIB / ingresses),
    },
  ];
}
