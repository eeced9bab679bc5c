import { evidenceOf, networkOf, severityOf, symptomOf } from '../evidence.ts';
import type { Rule } from '../situation.ts';

/**
 * Faults between zones: everything from or to a zone, or everything between two.
 *
 * | fault | subject |
 * |---|---|
 * | all pairs of a zone with several others | `zone` |
 * | all pairs of two zones, or there are only two | `a <-> b` |
 *
 * A fault of large packets only is of the class MTU.
 */
export const zones: Rule = ({ settled }) =>
  [...settled]
    .filter(({ scope, kind }) => kind !== 'Mtu' && (scope.kind === 'Zone' || scope.kind === 'Zones'))
    .map((fault) => {
      const subject = fault.scope.names.join(' <-> ');
      const place =
        fault.scope.kind === 'Zone'
          ? `zone ${subject} and the other zones`
          : `zones ${fault.scope.names.join(' and ')}`;
      return {
        class: 'Zone',
        subject,
        severity: severityOf(fault),
        message: `${networkOf(fault.scope.plane)} between ${place}: ${symptomOf(fault)}`,
        evidence: evidenceOf(fault),
      };
    });
