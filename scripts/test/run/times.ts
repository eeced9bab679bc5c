/**
 * Prints the times of the last run: wall and CPU seconds of each level, and the slowest files.
 *
 *   node scripts/test/run/times.ts [--slowest 25]
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fileTimesOf } from './runLevel.ts';

/** Wall and CPU seconds, user and system. */
export interface Time {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** The duration, the levels and the end of a run: the content of reports/times.json. */
export interface Times {
  /** When the run ended, as in ISO 8601. */
  readonly date: string;
  /** The commit of the checkout, if that was clean when the run began. */
  readonly commit?: string;
  readonly passed: number;
  readonly failed: number;
  readonly seconds: number;
  readonly levels: readonly ({ readonly level: string; readonly passed: number; readonly failed: number } & Time)[];
  /** The builds of programs of the lab that ran together with the first levels. */
  readonly buildsCpuSeconds: number;
  /** CPU seconds of the whole machine; only on Linux. */
  readonly machineCpuSeconds?: number;
}

/** A line of the file that test/harness/fileTimes.ts writes; the CPU time only on Linux. */
interface FileTime {
  readonly file: string;
  readonly seconds: number;
  readonly cpuSeconds?: number;
}

const REPORT = 'reports/times.json';

/** Writes the report into the folder `reports` of the working directory. */
export function writeTimes(times: Times): void {
  writeFileSync(REPORT, `${JSON.stringify(times, undefined, 2)}\n`);
}

/** The report of the last run in the working directory; undefined if there is none. */
export function readTimes(): Times | undefined {
  return existsSync(REPORT) ? (JSON.parse(readFileSync(REPORT, 'utf8')) as Times) : undefined;
}

/**
 * The CPU time that no level has: pods and nodes of the lab are not descendants of the runner, and on a shared machine other processes run.
 * Then the sum. Both only as far as they are known.
 */
export function cpuBesides({ levels, buildsCpuSeconds, machineCpuSeconds }: Times): readonly [string, number][] {
  const ofLevels = levels.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  const known = ofLevels + buildsCpuSeconds;
  return [
    ...(buildsCpuSeconds > 0 ? [['builds ahead', buildsCpuSeconds] as [string, number]] : []),
    ...(machineCpuSeconds === undefined ? [] : [['lab and others', machineCpuSeconds - known] as [string, number]]),
    ['total', machineCpuSeconds ?? known],
  ];
}

/** The text of `make test-times`. */
export function showTimes(times: Times, files: readonly (FileTime & { level: string })[], slowest: number): string {
  const shown = [...files].sort((a, b) => b.seconds - a.seconds).slice(0, slowest);
  return [
    `Run of ${times.date}`,
    '',
    row('wall s', 'CPU s', 'level'),
    ...times.levels.map(({ level, seconds, cpuSeconds }) => row(seconds, cpuSeconds, level)),
    ...cpuBesides(times).map(([name, cpu]) => row(name === 'total' ? times.seconds : '', cpu, name)),
    '',
    `The ${shown.length} slowest of ${files.length} files`,
    row('wall s', 'CPU s', 'file'),
    ...shown.map(({ level, file, seconds, cpuSeconds = '' }) => row(seconds, cpuSeconds, `${file} (${level})`)),
    '',
  ].join('\n');
}

function row(seconds: number | string, cpuSeconds: number | string, what: string): string {
  const [wall, cpu] = [seconds, cpuSeconds].map((each) => (typeof each === 'number' ? each.toFixed(0) : each));
  return `${wall!.padStart(8)} ${cpu!.padStart(8)}  ${what}`;
}

function filesOf({ level }: { level: string }): (FileTime & { level: string })[] {
  const path = fileTimesOf(level);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  return lines.map((line) => ({ ...(JSON.parse(line) as FileTime), level }));
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { slowest: { type: 'string', default: '25' } } });
  const times = readTimes();
  if (times !== undefined) {
    process.stdout.write(showTimes(times, times.levels.flatMap(filesOf), Number(values.slowest)));
  } else {
    console.error(`There is no ${REPORT}: run \`make test\`, or another target that runs levels, first.`);
    process.exitCode = 1;
  }
}
