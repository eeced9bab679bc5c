import type { DeviceFacts } from './deviceFacts.ts';

/** The samples of one device in an answer. */
export interface DeviceSamples extends DeviceFacts {
  /** Bytes per second. */
  rate?: number | undefined;
  /** Highest speed of the last hour, bytes per second. */
  peak?: number | undefined;
}

/** The samples of one device in an answer with facts. Other answers have one figure a device, and no room for these. */
export class FactSamples implements DeviceFacts {
  total: number | undefined = undefined;
  speed: number | undefined = undefined;
  flags: number | undefined = undefined;
  ifaceId: number | undefined = undefined;
  ifaceLink: number | undefined = undefined;
  driver: string | undefined = undefined;
}

const NOTHING_INVALID: ReadonlyMap<string, string> = new Map();

/** The samples of one node in an answer. Each pass has as many of these as nodes, so a set or map that is empty is not made. */
export class NodeSamples {
  readonly devices = new Map<string, DeviceSamples>();
  /** A device that has a series twice: the first such device, in words. */
  duplicate: string | undefined = undefined;
  #instance: string | undefined = undefined;
  #otherInstances: Set<string> | undefined = undefined;
  #invalid: Map<string, string> | undefined = undefined;

  /** Label `instance` of its series; two of them mean two exporters. */
  get instances(): ReadonlySet<string> {
    const first = this.#instance === undefined ? [] : [this.#instance];
    return new Set([...first, ...(this.#otherInstances ?? [])]);
  }

  /** The one instance of its series; undefined where there are several, or none. */
  get soleInstance(): string | undefined {
    return this.#otherInstances === undefined ? this.#instance : undefined;
  }

  /** Samples that are no number, by device, in words. */
  get invalid(): ReadonlyMap<string, string> {
    return this.#invalid ?? NOTHING_INVALID;
  }

  noteInstance(instance: string): void {
    if (this.#instance === instance) return;
    if (this.#instance === undefined) this.#instance = instance;
    else (this.#otherInstances ??= new Set()).add(instance);
  }

  noteInvalid(device: string, problem: string): void {
    this.#invalid ??= new Map();
    if (!this.#invalid.has(device)) this.#invalid.set(device, problem);
  }

  /** Forgets everything but the devices. */
  clear(): void {
    this.duplicate = undefined;
    this.#instance = undefined;
    this.#otherInstances = undefined;
    this.#invalid = undefined;
  }
}
