import { evidenceOf, networkOf, symptomOf } from '../evidence.ts';
import { linkSubject } from '../faults/direction.ts';
import type { Fault } from '../faults/faults.ts';
import { CLUSTER, type Rule, type Situation } from '../situation.ts';

/**
 * Paths on which small packets pass and large ones vanish.
 *
 * | affected | subject |
 * |---|---|
 * | nearly all pairs of a node | the node |
 * | nearly all pairs of a zone, or between two | the zone, or `a <-> b` |
 * | nearly all pairs of the cluster | `cluster` |
 * | one link | the link |
 */
export const mtu: Rule = (situation) =>
  [...situation.settled]
    .filter(({ kind }) => kind === 'Mtu')
    .map((fault) => {
      const subject = subjectOf(fault, situation);
      const message = `${networkOf(fault.scope.plane)} of ${subject}: ${symptomOf(fault)}, while small packets pass`;
      return { class: 'MTU', subject, severity: 'Degraded', message, evidence: evidenceOf(fault) };
    });

function subjectOf(fault: Fault, { agents }: Situation): string {
  if (fault.scope.kind === 'Link') return linkSubject(fault, agents);
  return fault.scope.names.length === 0 ? CLUSTER : fault.scope.names.join(' <-> ');
}
