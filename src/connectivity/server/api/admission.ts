import type { ExpectedPods } from './check.ts';
import type { Reports } from '../reports/reports.ts';

/** Reports of pods that are not known to run. */
const MOST_UNKNOWN = 1_000;
/** Reports while the pods are not known: two agents on each of 10,000 nodes, and some more. */
const MOST_AGENTS = 25_000;

/** The data that decides whether a report is kept. */
export interface Admission {
  readonly reports: Pick<Reports, 'get' | 'size'>;
  /** Whether the pod is known to run. */
  readonly isExpected: (pod: string) => boolean;
  readonly expected: () => ExpectedPods;
}

/** Decides whether a report is kept. As in the original server, a report for an unknown pod is kept, up to a limit. */
export function mayReport({ reports, isExpected, expected }: Admission, name: string): boolean {
  if (reports.get(name) !== undefined || isExpected(name)) return true;
  // Below this number no pods need to be counted, however many unknown ones report.
  if (reports.size < MOST_UNKNOWN) return true;
  const found = expected();
  return reports.size < ('problem' in found ? MOST_AGENTS : found.pods.length + MOST_UNKNOWN);
}
