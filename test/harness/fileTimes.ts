import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, expect } from 'vitest';

/**
 * Set-up of every test file, the first one, so that its afterAll is the last one: if the runner named a file in TEST_FILE_TIMES, it appends a
 * line of JSON with what the test file took, `{"file", "seconds", "cpuSeconds"}`. The CPU time includes this process and all its
 * descendants, which run for no other file at the same time. Where there is no /proc, the line has none.
 */
const report = process.env.TEST_FILE_TIMES;
const TICKS_PER_SECOND = 100;

/** The CPU ticks of the process with this ID and its descendants, whether they run or have ended and were waited for. */
function cpuTicks(pid: number): number | undefined {
  try {
    const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const all = ids.flatMap((id) => statOf(Number(id)) ?? []);
    const childrenOf = Map.groupBy(all, ({ parent }) => parent);
    const ticksBelow = (id: number): number =>
      (childrenOf.get(id) ?? []).reduce((sum, child) => sum + child.ticks + ticksBelow(child.id), 0);
    const self = statOf(pid);
    return self && self.ticks + ticksBelow(pid);
  } catch {
    return undefined;
  }
}

/** Undefined if the process has ended. */
function statOf(id: number): { id: number; parent: number; ticks: number } | undefined {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'utf8');
    // The name before the last bracket may have spaces. Behind it: state, parent, …; utime, stime, cutime and cstime are 12 to 15.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
    return { id, parent: Number(fields[1]), ticks };
  } catch {
    return undefined;
  }
}

if (report !== undefined) {
  const [began, used] = [performance.now(), cpuTicks(process.pid)];
  afterAll(() => {
    const now = cpuTicks(process.pid);
    // A descendant that outlived its parent takes its time with it.
    const cpu =
      used === undefined || now === undefined ? {} : { cpuSeconds: Math.max(0, now - used) / TICKS_PER_SECOND };
    const line = {
      file: relative('', expect.getState().testPath ?? ''),
      seconds: (performance.now() - began) / 1000,
      ...cpu,
    };
    appendFileSync(report, `${JSON.stringify(line)}\n`);
  });
}
