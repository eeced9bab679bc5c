import { RE2JS } from 're2js';
import { doubtOf } from './doubt.ts';
import type { NodeFacts } from '../nodeFacts.ts';
import type { CountedDevice, NodeDevices } from './devices.ts';
import type { Reading } from '../reading.ts';

/** Compiled patterns that are kept. The costliest takes three megabytes. */
const MOST_COMPILED = 20;
/** Names of devices that are remembered. A node has a few; a cluster in which each has another name would add up. */
const MOST_NAMES = 10_000;

/** The filters of readings. A filter lives as long as its reading, which the feed keeps while it is asked for. */
export class DeviceFilters {
  readonly #filters = new WeakMap<Reading, DeviceFilter | 'Invalid'>();
  readonly #patterns = new CompiledPatterns();

  /** Undefined if the reading has no pattern. 'Invalid' if one is: the object that asks for the reading is Stalled. */
  of(reading: Reading): DeviceFilter | 'Invalid' | undefined {
    if (reading.include === undefined && reading.exclude === undefined) return undefined;
    let filter = this.#filters.get(reading);
    if (filter === undefined) this.#filters.set(reading, (filter = filterOf(reading, this.#patterns)));
    return filter;
  }
}

function filterOf(reading: Reading, patterns: CompiledPatterns): DeviceFilter | 'Invalid' {
  try {
    return new DeviceFilter(reading, patterns);
  } catch {
    return 'Invalid';
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
 * A compiled pattern can take megabytes, and is needed only for names that have not been seen: few are kept.
 */
export class DeviceFilter {
  readonly #include: string | undefined;
  readonly #exclude: string | undefined;
  readonly #patterns: CompiledPatterns;
  readonly #counts = new Map<string, boolean>();
  readonly #filtered = new WeakMap<NodeDevices, NodeDevices>();

  /** @throws Error if a pattern is invalid */
  constructor({ include, exclude }: Pick<Reading, 'include' | 'exclude'>, patterns = new CompiledPatterns()) {
    this.#include = include;
    this.#exclude = exclude;
    this.#patterns = patterns;
    for (const pattern of [include, exclude]) if (pattern !== undefined) patterns.of(pattern);
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
      if (this.selects(device.name)) counted.push(device);
      else excluded.set(device.name, 'Filtered');
    }
    const withoutCounter = this.#only(devices.withoutCounter);
    const functions = this.#only(devices.functions);
    const slaves = this.#only(devices.slaves);
    const areAll = counted.length === devices.counted.length && withoutCounter === devices.withoutCounter;
    if (areAll && functions === devices.functions && slaves === devices.slaves) return devices;
    const names = counted.map(({ name }) => name);
    const doubt = doubtOf({ counted, excluded });
    return { ...devices, counted, names, excluded, withoutCounter, functions, slaves, doubt };
  }

  /** The same list if all are selected, undefined if none is. */
  #only<T extends { readonly name: string }>(all: readonly T[] | undefined): readonly T[] | undefined {
    const selected = all?.filter(({ name }) => this.selects(name));
    if (selected?.length === all?.length) return all;
    return selected?.length === 0 ? undefined : selected;
  }

  /** True if the patterns of the reading do not leave out a device of this name. */
  selects(name: string): boolean {
    let counts = this.#counts.get(name);
    if (counts === undefined) {
      if (this.#counts.size >= MOST_NAMES) this.#counts.clear();
      const [include, exclude] = [this.#include, this.#exclude];
      counts =
        (include === undefined || this.#patterns.of(include).matches(name)) &&
        (exclude === undefined || !this.#patterns.of(exclude).matches(name));
      this.#counts.set(name, counts);
    }
    return counts;
  }
}

/** The patterns that were used last, compiled. */
class CompiledPatterns {
  readonly #compiled = new Map<string, RE2JS>();

  /** @throws Error if the pattern is invalid */
  of(pattern: string): RE2JS {
    const compiled = this.#compiled.get(pattern) ?? compile(pattern);
    this.#compiled.delete(pattern);
    this.#compiled.set(pattern, compiled);
    const [oldest] = this.#compiled.keys();
    if (this.#compiled.size > MOST_COMPILED && oldest !== undefined) this.#compiled.delete(oldest);
    return compiled;
  }
}

/** As a matcher of PromQL: `.` matches every character, and `matches` is about the whole name. */
function compile(pattern: string): RE2JS {
  return RE2JS.compile(pattern, RE2JS.DOTALL);
}
