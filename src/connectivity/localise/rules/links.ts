import { evidenceOf, networkOf, severityOf, symptomOf } from '../evidence.ts';
import { linkSubject } from '../faults/direction.ts';
import type { Rule } from '../situation.ts';

/** Faults between two nodes that both reach others. See linkSubject() for the direction. */
export const links: Rule = ({ settled, agents }) =>
  [...settled]
    .filter(({ scope, kind }) => kind !== 'Mtu' && scope.kind === 'Link')
    .map((fault) => {
      const subject = linkSubject(fault, agents);
      return {
        class: 'Link',
        subject,
        severity: severityOf(fault),
        message: `${networkOf(fault.scope.plane)} ${subject}: ${symptomOf(fault)}`,
        evidence: evidenceOf(fault),
      };
    });
