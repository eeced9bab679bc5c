import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KnownNode, NodeResolver } from '../../nodes/nodeNames.ts';
import { Turns } from '../../runtime/process/turns.ts';
import { capacityDrop } from '../evaluate/capacityDrop.ts';
import type { DeviceFilter, DeviceFilters } from '../evaluate/devices/deviceFilter.ts';
import type { NodeFacts } from '../evaluate/nodeFacts.ts';
import { nodeUsage, type NodeInput, type NodeUsage } from '../evaluate/percent.ts';
import { DEFAULT_READING, usesReceived, type Reading, type Readings } from '../evaluate/reading.ts';
import type { ReadingFigures } from '../evaluate/snapshot.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';
import type { LateSamples } from '../series/lateSamples.ts';
import { foreignSeries } from './foreignSeries.ts';
import type { ReadingTime } from './readingTime.ts';
import type { Received } from './receiveRates.ts';

/** Nodes per turn of the event loop: they take 1 to 5 ms to evaluate. */
const NODES_A_TURN = 500;
/** The same with patterns: a name that is new to them takes up to 1 ms. */
const FILTERED_NODES_A_TURN = 50;

/** The answers that all nodes are evaluated with. */
export interface Answers {
  facts: ReadonlyMap<string, NodeFacts>;
  /** Transmit rates. */
  rates: ReadonlyMap<string, NodeSamples>;
  received: Received;
  /** The rates have none of these. */
  late: LateSamples;
  /** Highest speeds of the last hour. */
  peaks: ReadonlyMap<string, NodeSamples> | undefined;
  timeSeconds: number;
  /** See the function of this name. */
  silenceTells: boolean;
  /** Nodes whose counters repeat old values, as far as it is known. */
  repeated?: ReadonlySet<string>;
  filters: DeviceFilters;
  resolver: NodeResolver;
}

/** Nodes, and the answers that they are evaluated with. */
export interface Part {
  readonly nodes: ReadonlyMap<string, KnownNode>;
  readonly answers: Answers;
}

/** The usage of each node by the default reading. */
export async function evaluateNodes({ nodes, answers }: Part): Promise<Map<string, NodeUsage>> {
  const usages = new Map<string, NodeUsage>();
  await evaluateInto(usages, { nodes, answers }, DEFAULT_READING);
  return usages;
}

/**
 * Returns the results of each reading, by its key. Undefined if there is no reading. Yields to other tasks between two readings:
 * the patterns of a new reading are compiled, which can take milliseconds. A reading for which no time is left has no
 * results, rather than the results of some nodes.
 *
 * @param parts if several parts have a node, the last of them evaluates it
 */
export async function evaluateReadings(
  readings: Readings,
  parts: readonly [Part, ...Part[]],
  time: ReadingTime,
): Promise<Map<string, ReadingFigures> | undefined> {
  if (readings.size === 0) return undefined;
  const { received } = parts[0].answers;
  const figures = new Map<string, ReadingFigures>();
  const turns = new Turns();
  for (const [key, reading] of time.order(readings)) {
    await turns.give();
    const { warnings, error } = usesReceived(reading) ? received : { warnings: [], error: undefined };
    if (error !== undefined) figures.set(key, { nodes: new Map(), warnings, error });
    else figures.set(key, await figuresOf(reading, parts, warnings, time));
  }
  return figures;
}

const HAD_NO_TIME: ReadingFigures = { nodes: new Map(), warnings: [], hadNoTime: true };

async function figuresOf(
  reading: Reading,
  parts: readonly Part[],
  warnings: readonly string[],
  time: ReadingTime,
): Promise<ReadingFigures> {
  if (time.isOver) return HAD_NO_TIME;
  const nodes = new Map<string, NodeUsage>();
  const isWhole = await time.measure(reading, async () => {
    for (const part of parts) if (!(await evaluateInto(nodes, part, reading, time))) return false;
    return true;
  });
  return isWhole ? { nodes, warnings } : HAD_NO_TIME;
}

/**
 * Evaluates nodes by one reading; none if a pattern of the reading is invalid.
 * @returns false if there was not enough time
 */
async function evaluateInto(
  usages: Map<string, NodeUsage>,
  { nodes, answers }: Part,
  reading: Reading,
  time?: Pick<ReadingTime, 'isOver'>,
): Promise<boolean> {
  const filter = answers.filters.of(reading);
  if (filter === 'Invalid') return true;
  const valueOf = (known: KnownNode, node: string): NodeUsage => evaluate(node, known, answers, reading, filter);
  const entries = nodes.entries();
  while (mapSome(entries, valueOf, usages, filter && FILTERED_NODES_A_TURN)) {
    await nextTurn();
    if (time?.isOver === true) return false;
  }
  return true;
}

/** Maps the values, and yields to the event loop after each batch. */
export async function mappedInTurns<T, R>(
  map: ReadonlyMap<string, T>,
  valueOf: (value: T, key: string) => R,
): Promise<Map<string, R>> {
  const mapped = new Map<string, R>();
  const entries = map.entries();
  while (mapSome(entries, valueOf, mapped)) await nextTurn();
  return mapped;
}

/** Maps one batch of at most so many. Returns true if there may be more entries. */
function mapSome<T, R>(
  entries: Iterator<[string, T]>,
  valueOf: (value: T, key: string) => R,
  mapped: Map<string, R>,
  most = NODES_A_TURN,
): boolean {
  for (let count = 0; count < most; count++) {
    const next = entries.next();
    if (next.done === true) return false;
    const [key, value] = next.value;
    mapped.set(key, valueOf(value, key));
  }
  return true;
}

function evaluate(
  node: string,
  known: KnownNode,
  answers: Answers,
  reading: Reading,
  filter: DeviceFilter | undefined,
): NodeUsage {
  const [all, rates] = [answers.facts.get(node), answers.rates.get(node)];
  const facts = all && filter ? filter.apply(all) : all;
  const received = answers.received.nodes.get(node);
  const foreign = foreignSeries({ node, known, facts: all, resolver: answers.resolver });
  if (foreign !== undefined) return { node, devices: [], timeSeconds: answers.timeSeconds, ...foreign };
  const capacity = reading.capacities?.of(node) ?? known.capacity;
  const { timeSeconds } = answers;
  const late = lateOf(node, answers, reading);
  const fallen = fallenOf(node, answers);
  const silence = { silenceTells: answers.silenceTells, isRepeated: answers.repeated?.has(node) === true };
  const input = { node, facts, rates, received, fallen, reading, capacity, timeSeconds, ...silence };
  const usage = nodeUsage({ ...input, filter, ...(late && { late }) });
  const drop = capacity === undefined ? capacityDrop(usage, facts?.devices, answers.peaks?.get(node)) : undefined;
  return drop === undefined ? usage : { ...usage, drop };
}

function fallenOf(node: string, { late: { fallen } }: Answers): NonNullable<NodeInput['fallen']> {
  return { transmit: fallen.transmit.get(node), receive: fallen.receive.get(node) };
}

/** The late devices of the counters that the reading uses. */
function lateOf(node: string, { late }: Answers, { direction }: Reading): NodeInput['late'] {
  const { transmit, receive, oldestSeconds } = late;
  const [sent, got] = [transmit, receive].map(({ nodes }) => nodes.get(node));
  const samples = direction === 'Transmit' ? sent : direction === 'Receive' ? got : (sent ?? got);
  return samples && { samples, oldestSeconds };
}
