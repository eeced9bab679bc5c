import type { NodeSamples } from './nodeSamples.ts';

/** Devices whose newest sample is too old for a rate, by node. */
export interface LateSamples {
  /** With `newest` of each late device. */
  readonly nodes: ReadonlyMap<string, NodeSamples>;
  /** How old the newest sample of a rate may be, seconds. */
  readonly oldestSeconds: number;
  /** In the answer that has them. */
  readonly warnings: readonly string[];
  readonly infos: readonly string[];
}

/** No device is late. */
export const NONE_LATE: LateSamples = { nodes: new Map(), oldestSeconds: Infinity, warnings: [], infos: [] };

/**
 * Removes the rates of late devices: a rate is of the time of its samples, and says nothing of now. The devices stay, since a RateTable
 * knows their places.
 */
export function dropLate({ nodes }: LateSamples, ...answers: readonly ReadonlyMap<string, NodeSamples>[]): void {
  for (const [node, { devices }] of nodes) {
    for (const rates of answers) dropRates(rates.get(node), devices.keys());
  }
}

function dropRates(rates: NodeSamples | undefined, devices: Iterable<string>): void {
  for (const name of devices) {
    const device = rates?.devices.get(name);
    if (device !== undefined) device.rate = undefined;
  }
}
