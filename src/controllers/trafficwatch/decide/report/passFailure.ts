import type { Snapshot } from '../../../../usage/evaluate/snapshot.ts';

/** The reason of a failed pass in conditions, events and node verdicts, such as PrometheusUnreachable. */
export function passFailureReason(snapshot: Snapshot): string {
  return `Prometheus${snapshot.error?.reason ?? 'Unreachable'}`;
}

/** Why the pass failed; undefined if it succeeded or has not ended yet. */
export function passFailureOf(snapshot: Snapshot | undefined): { reason: string; message: string } | undefined {
  if (!snapshot || snapshot.ok) return undefined;
  return { reason: passFailureReason(snapshot), message: snapshot.error?.message ?? 'no answer from Prometheus' };
}
