import type { ConnectivityCheckStatus } from '../../../api/connectivitycheck/connectivityCheck.ts';
import { isSameFault } from './findings/fault.ts';

/** The shortest time between two writes for changed figures alone, ms. */
export const FIGURES_EVERY_MS = 60_000;

/**
 * Whether a status differs in more than figures, which change all the time. Figures are counts, messages, evidence and the
 * names of nodes that are left out.
 */
export function isNews(before: ConnectivityCheckStatus, after: ConnectivityCheckStatus): boolean {
  return (
    before.verdict !== after.verdict ||
    before.observedGeneration !== after.observedGeneration ||
    isOther(before.conditions, after.conditions, (a, b) => {
      return (
        a.type === b.type &&
        a.status === b.status &&
        a.reason === b.reason &&
        a.observedGeneration === b.observedGeneration
      );
    }) ||
    isOther(before.findings, after.findings, (a, b) => {
      return isSameFault(a, b) && a.severity === b.severity && a.since === b.since;
    }) ||
    isOther(before.outages, after.outages, (a, b) => isSameFault(a, b) && a.start === b.start && a.end === b.end)
  );
}

function isOther<T>(before: readonly T[] = [], after: readonly T[] = [], isSame: (a: T, b: T) => boolean): boolean {
  return before.length !== after.length || before.some((one, place) => !isSame(one, after[place] as T));
}
