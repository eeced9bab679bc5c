import type { DeviceFacts } from './deviceFacts.ts';

/** What an answer says of one device. */
export interface DeviceSamples extends DeviceFacts {
  /** Bytes per second. */
  rate?: number | undefined;
  /** Highest speed of late, bytes per second. */
  peak?: number | undefined;
  /** Of kept rates: which answer spoke of it last. */
  answerNumber?: number;
}

/** What answers with facts say of one device. Those with one figure a device have no room for others. */
export class FactSamples implements DeviceFacts {
  total: number | undefined = undefined;
  speed: number | undefined = undefined;
  flags: number | undefined = undefined;
  ifaceId: number | undefined = undefined;
  ifaceLink: number | undefined = undefined;
  driver: string | undefined = undefined;
}

const NOTHING_INVALID: ReadonlyMap<string, string> = new Map();

/** What an answer says of one node. There are as many of these as nodes in each pass, so it holds little that is empty. */
export class NodeSamples {
  readonly devices = new Map<string, DeviceSamples>();
  /** Which answer spoke of it last. */
  answerNumber = 0;
  /** Of so many of its devices that answer spoke. Counted of kept rates alone. */
  devicesSpokenOf = 0;
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
  begin(answerNumber: number): void {
    if (this.answerNumber === answerNumber) return;
    this.answerNumber = answerNumber;
    this.devicesSpokenOf = 0;
    this.duplicate = undefined;
    this.#instance = undefined;
    this.#otherInstances = undefined;
    this.#invalid = undefined;
  }

  /** Forgets the rate that another answer told of a device of it. */
  beginDevice(device: DeviceSamples): void {
    if (device.answerNumber === this.answerNumber) return;
    device.answerNumber = this.answerNumber;
    device.rate = undefined;
    this.devicesSpokenOf++;
  }

  /** Drops the devices that only another answer spoke of. Mostly there are none, and nothing is gone through. */
  end(): void {
    if (this.devicesSpokenOf === this.devices.size) return;
    for (const [name, { answerNumber }] of this.devices) {
      if (answerNumber !== this.answerNumber) this.devices.delete(name);
    }
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
 * The rates of one answer, to be written over by those of the next: who looks at them has to be done by then, and an
 * answer that broke off ends their use, since whoever reads it may not be done. Objects that are made in one pass and
 * last until the next are what V8's collector works on longest; and where a series was found to belong need not be
 * looked up again.
 */
export class RateTable {
  /** Those of the last answer, once that was read to its end. */
  readonly nodes = new Map<string, NodeSamples>();
  /** How many answers were begun. */
  begun = 0;
  /** The number of the last that was read to its end. */
  whole = 0;
  /** As long as it is the same object, a series belongs where it did. */
  places: object = {};

  /** To be called when the nodes that series are resolved among are others than before. */
  forgetPlaces(): void {
    this.places = {};
  }

  /** Whether the last answer was not read to its end. */
  get isBrokenOff(): boolean {
    return this.begun !== this.whole;
  }
}
