import type { DeviceFacts } from './devices.ts';

/** What an answer says of one device. */
export interface DeviceReading extends DeviceFacts {
  /** Bytes per second. */
  rate?: number | undefined;
  /** Highest speed of late, bytes per second. */
  peak?: number | undefined;
  /** Of kept ones, the answer that spoke of it last. */
  answer?: number;
}

/** What answers with facts say of one device. Those with one figure a device have no room for others. */
export class FactsReading implements DeviceFacts {
  total: number | undefined = undefined;
  speed: number | undefined = undefined;
  flags: number | undefined = undefined;
  ifaceId: number | undefined = undefined;
  ifaceLink: number | undefined = undefined;
  driver: string | undefined = undefined;
}

const NOTHING_INVALID: ReadonlyMap<string, string> = new Map();

/** What an answer says of one node. There are as many of these as nodes in each pass, so it holds little that is empty. */
export class NodeReadings {
  readonly devices = new Map<string, DeviceReading>();
  /** The answer that spoke of it last, and of how many of its devices. */
  answer = 0;
  spokenOf = 0;
  /** Series that there are twice for one device: the first such device, in words. */
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

  /** Forgets what another answer said of it, but for its devices: they do so one by one. */
  begin(answer: number): void {
    if (this.answer === answer) return;
    this.answer = answer;
    this.spokenOf = 0;
    this.duplicate = undefined;
    this.#instance = undefined;
    this.#otherInstances = undefined;
    this.#invalid = undefined;
  }

  /** Forgets what another answer said of a device of it. */
  beginDevice(device: DeviceReading): void {
    if (device.answer === this.answer) return;
    device.answer = this.answer;
    device.rate = undefined;
    this.spokenOf++;
  }

  /** Drops the devices that only another answer spoke of. Mostly there are none, and nothing is gone through. */
  end(): void {
    if (this.spokenOf === this.devices.size) return;
    for (const [name, { answer }] of this.devices) if (answer !== this.answer) this.devices.delete(name);
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
}

/**
 * The rates of one answer, to be written over by those of the next: who looks at them has to be done by then. Objects
 * that are made in one pass and last until the next are what V8's collector works on longest; and where a series was
 * found to belong need not be looked up again.
 *
 * The nodes that series are resolved among are the same for all of the answers.
 */
export class KeptRates {
  readonly nodes = new Map<string, NodeReadings>();
  /** Answers that were begun. */
  begun = 0;
  /** The last of them that was read to its end: what it did not speak of is not in `nodes` any more. */
  whole = 0;
}
