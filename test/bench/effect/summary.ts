import { resultOf, type Result } from '../figure.ts';
import { summarize, type Summary } from '../statistics.ts';
import { SCENARIOS, type EffectRun, type Measurement, type Scenario } from './measurement.ts';

/** The goal: pods that were placed after the label have at most this many times the p99 of an idle cluster. */
export const P99_AT_MOST_TIMES = 1.2;
/** Twice what an idle cluster takes to answer: a client that is later than this measures mainly itself. ms. */
const LATE_AT_MOST = 2;
/** Whose pods are placed by the label. */
const PLACED_BY_LABEL: ReadonlySet<Scenario> = new Set(['Preferred', 'Required']);

/** All repetitions of one scenario. */
export interface ScenarioSummary {
  readonly scenario: Scenario;
  /** Replicas on the full node, for each repetition. */
  readonly onFullNode: readonly number[];
  readonly p50: Summary;
  readonly p99: Summary;
  readonly max: Summary;
  /** Median p99, divided by the median p99 of idle; undefined for idle. */
  readonly ratio?: number;
  /** Median p99, divided by the median p99 of pods kept off by hand; only of pods that the label placed. */
  readonly ratioByHand?: number;
  /** Undefined without a goal. */
  readonly met?: boolean;
  readonly answeredPerSecond: Summary;
  /** Sums of all repetitions. */
  readonly due: number;
  readonly failed: number;
  /** During the rolls. */
  readonly failedBefore: number;
  /** The download from the slowest replica, for each repetition. */
  readonly slowestDownload: Summary;
}

/** How late the client sent 1 % of the requests, in the worst measurement. */
export function clientLateness({ measurements }: Pick<EffectRun, 'measurements'>): { ms: number; isTooLate: boolean } {
  const ms = Math.max(...measurements.map(({ lateP99Ms }) => lateP99Ms));
  return { ms, isTooLate: ms > LATE_AT_MOST };
}

/** One summary for each scenario that was measured. @throws RangeError if idle was not */
export function summarizeRun({ measurements, fullNode }: Pick<EffectRun, 'measurements' | 'fullNode'>) {
  const of = (scenario: Scenario): Measurement[] => measurements.filter((each) => each.scenario === scenario);
  const p99s = (scenario: Scenario): number[] => of(scenario).map(({ p99Ms }) => p99Ms);
  const limits = { idle: p99s('idle'), byHand: p99s('by hand') };
  return SCENARIOS.filter((scenario) => of(scenario).length > 0).map((scenario) =>
    summarizeScenario(scenario, of(scenario), limits, fullNode),
  );
}

function summarizeScenario(
  scenario: Scenario,
  measurements: readonly Measurement[],
  { idle, byHand }: { readonly idle: readonly number[]; readonly byHand: readonly number[] },
  fullNode: string,
): ScenarioSummary {
  const summaryOf = (value: (each: Measurement) => number): Summary => summarize(measurements.map(value));
  const sumOf = (value: (each: Measurement) => number): number =>
    measurements.reduce((sum, each) => sum + value(each), 0);
  const { summary: p99, ratio, met } = p99Of(scenario, measurements, idle);
  return {
    scenario,
    onFullNode: measurements.map(({ replicas }) => replicas[fullNode] ?? 0),
    p50: summaryOf(({ p50Ms }) => p50Ms),
    p99,
    max: summaryOf(({ maxMs }) => maxMs),
    ...(scenario !== 'idle' && { ratio, met }),
    ...(PLACED_BY_LABEL.has(scenario) && byHand.length > 0 && { ratioByHand: p99.median / summarize(byHand).median }),
    answeredPerSecond: summaryOf((each) => each.answeredPerSecond),
    due: sumOf(({ due }) => due),
    failed: sumOf(({ failed }) => failed),
    failedBefore: sumOf(({ failedBefore }) => failedBefore),
    slowestDownload: summaryOf(({ downloads }) => Math.min(...downloads)),
  };
}

function p99Of(scenario: Scenario, measurements: readonly Measurement[], idle: readonly number[]): Result {
  const atMostTimes = PLACED_BY_LABEL.has(scenario) ? { atMostTimes: P99_AT_MOST_TIMES } : {};
  const limit = { what: 'idle', samples: idle, ...atMostTimes };
  const samples = measurements.map(({ p99Ms }) => p99Ms);
  return resultOf({ id: `${scenario}.p99`, what: `p99, ${scenario}`, unit: 'ms', samples, limit });
}
