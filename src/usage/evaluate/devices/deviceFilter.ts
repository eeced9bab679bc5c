import { RE2JS } from 're2js';
import type { CountedDevice, NodeDevices, NodeFacts } from '../nodeFacts.ts';
import type { Reading } from '../reading.ts';

/** Names of devices that are remembered. A node has a few; a cluster in which each has another name would add up. */
const MOST_NAMES = 10_000;

/** The filters of readings. A filter lives as long as its reading, which the feed keeps while it is asked for. */
export class DeviceFilters {
  readonly #filters = new WeakMap<Reading, DeviceFilter>();

  /** Undefined if the reading has no pattern. Throws if a pattern is invalid. */
  of(reading: Reading): DeviceFilter | undefined {
    if (reading.include === undefined && reading.exclude === undefined) return undefined;
    let filter = this.#filters.get(reading);
    if (filter === undefined) this.#filters.set(reading, (filter = new DeviceFilter(reading)));
    return filter;
  }
}

/**
 * Leaves out devices by the patterns of a reading. It chooses only among devices that count: a pattern adds none.
 *
 * | matches include, or there is none | matches exclude | device                    |
 * |-----------------------------------|-----------------|---------------------------|
 * | yes                               | no              | counts                    |
 * | yes                               | yes             | does not count (Filtered) |
 * | no                                | any             | does not count (Filtered) |
 *
 * Patterns come from users. RE2JS matches them in linear time, as Prometheus does; a RegExp of JavaScript could take
 * years. It is slower in the usual case, so each name is matched once, and nodes with equal devices share a result.
 */
export class DeviceFilter {
  readonly #include: RE2JS | undefined;
  readonly #exclude: RE2JS | undefined;
  readonly #counts = new Map<string, boolean>();
  readonly #filtered = new WeakMap<NodeDevices, NodeDevices>();

  constructor({ include, exclude }: Pick<Reading, 'include' | 'exclude'>) {
    this.#include = include === undefined ? undefined : compile(include);
    this.#exclude = exclude === undefined ? undefined : compile(exclude);
  }

  /** The facts with the devices that are left. The same object if all are. */
  apply(facts: NodeFacts): NodeFacts {
    const devices = this.#devices(facts.devices);
    return devices === facts.devices ? facts : { ...facts, devices };
  }

  #devices(devices: NodeDevices): NodeDevices {
    let filtered = this.#filtered.get(devices);
    if (filtered === undefined) this.#filtered.set(devices, (filtered = this.#filter(devices)));
    return filtered;
  }

  #filter(devices: NodeDevices): NodeDevices {
    const counted: CountedDevice[] = [];
    const excluded = new Map(devices.excluded);
    for (const device of devices.counted) {
      if (this.#matches(device.name)) counted.push(device);
      else excluded.set(device.name, 'Filtered');
    }
    if (counted.length === devices.counted.length) return devices;
    return { ...devices, counted, names: counted.map(({ name }) => name), excluded };
  }

  #matches(name: string): boolean {
    let counts = this.#counts.get(name);
    if (counts === undefined) {
      if (this.#counts.size >= MOST_NAMES) this.#counts.clear();
      counts = this.#include?.matches(name) !== false && this.#exclude?.matches(name) !== true;
      this.#counts.set(name, counts);
    }
    return counts;
  }
}

/** As a matcher of PromQL: `.` matches every character, and `matches` is about the whole name. */
function compile(pattern: string): RE2JS {
  return RE2JS.compile(pattern, RE2JS.DOTALL);
}
