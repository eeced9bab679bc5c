/** The facts that an exporter reports about one network device. A field is absent if there is no such series. */
export interface DeviceFacts {
  /** node_network_transmit_bytes_total */
  total?: number | undefined;
  /** node_network_speed_bytes, bytes per second. NaN if the sample is not a number. */
  speed?: number | undefined;
  /** node_network_flags: IFF_* of netdevice(7). */
  flags?: number | undefined;
  /** node_network_iface_id: the device's own index. */
  ifaceId?: number | undefined;
  /** node_network_iface_link: index of the device below it, or its own index if there is none. */
  ifaceLink?: number | undefined;
  /** Label `driver` of node_ethtool_info. */
  driver?: string | undefined;
}

/** The labels of a series. */
export type SeriesLabels = Readonly<Record<string, unknown>>;

/** Gives the labels of a series when they are needed. */
export interface LabelSource {
  readonly labels: SeriesLabels;
}

/** Names of the labels in which two series differ: other values, or a label that only one has. Ignores the metric name. */
export function differingLabels(one: SeriesLabels, other: SeriesLabels): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  names.delete('__name__');
  return [...names].filter((name) => one[name] !== other[name]);
}

/** The samples of one device in an answer. */
export interface DeviceSamples extends DeviceFacts {
  /** Bytes per second. */
  rate?: number | undefined;
  /** Highest speed of the last hour, bytes per second. */
  peak?: number | undefined;
  /** Time of its newest sample, seconds since 1970, if it is too old for a rate; 1 if there is only one. */
  newest?: number | undefined;
  /** True if its counter fell. */
  fell?: true;
  /** The labels of the series with the rate, to compare them with the labels of a duplicate. Absent if they are not kept. */
  source?: LabelSource | undefined;
}

/** The samples of one device in an answer with facts. Other answers have only one number per device, to save memory. */
export class FactSamples implements DeviceFacts {
  total: number | undefined = undefined;
  speed: number | undefined = undefined;
  flags: number | undefined = undefined;
  ifaceId: number | undefined = undefined;
  ifaceLink: number | undefined = undefined;
  driver: string | undefined = undefined;
}

const NOTHING_INVALID: ReadonlyMap<string, string> = new Map();
const NONE: readonly string[] = [];
const NO_LABELS: ReadonlySet<string> = new Set();

/** The samples of one node in an answer. Creates no empty set or map, because each pass has one object per node. */
export class NodeSamples {
  readonly devices = new Map<string, DeviceSamples>();
  /** Message with the first device that has two series of one metric. */
  duplicate: string | undefined = undefined;
  #differing: Set<string> | undefined = undefined;
  #instance: string | undefined = undefined;
  #otherInstances: Set<string> | undefined = undefined;
  #invalid: Map<string, string> | undefined = undefined;
  #labels: Set<string> | undefined = undefined;

  /** Values of the label `instance` of its series. Two values mean two exporters. */
  get instances(): ReadonlySet<string> {
    const first = this.#instance === undefined ? [] : [this.#instance];
    return new Set([...first, ...(this.#otherInstances ?? [])]);
  }

  /** The value if there is exactly one, otherwise undefined. */
  get soleInstance(): string | undefined {
    return this.#otherInstances === undefined ? this.#instance : undefined;
  }

  /**
   * Values of the label `node` of its series other than the name of the node, such as an address. `clear` keeps them, since it comes before
   * each answer, and series with a known place are not resolved again.
   */
  get otherLabels(): ReadonlySet<string> {
    return this.#labels ?? NO_LABELS;
  }

  /** Messages about samples that are not a number, by device. */
  get invalid(): ReadonlyMap<string, string> {
    return this.#invalid ?? NOTHING_INVALID;
  }

  /** Sorted names of the labels in which duplicate series differ. Empty if there is no duplicate, or they are unknown. */
  get differing(): readonly string[] {
    return this.#differing === undefined ? NONE : [...this.#differing].sort();
  }

  /**
   * Records a second series of a device.
   *
   * @param differing the labels in which it differs from the first one
   */
  noteDuplicate(problem: string, differing: readonly string[]): void {
    this.duplicate ??= problem;
    for (const name of differing) (this.#differing ??= new Set()).add(name);
  }

  noteInstance(instance: string): void {
    if (this.#instance === instance) return;
    if (this.#instance === undefined) this.#instance = instance;
    else (this.#otherInstances ??= new Set()).add(instance);
  }

  noteOtherLabel(label: string): void {
    (this.#labels ??= new Set()).add(label);
  }

  noteInvalid(device: string, problem: string): void {
    this.#invalid ??= new Map();
    if (!this.#invalid.has(device)) this.#invalid.set(device, problem);
  }

  /** Resets everything except the devices and the labels. */
  clear(): void {
    this.duplicate = undefined;
    this.#differing = undefined;
    this.#instance = undefined;
    this.#otherInstances = undefined;
    this.#invalid = undefined;
  }
}
