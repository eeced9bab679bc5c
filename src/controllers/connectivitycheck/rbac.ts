import { CONNECTIVITY_CHECKS } from '../../api/connectivitycheck/connectivityCheck.ts';
import { NO_RIGHTS, rule, type ControllerRights } from '../contract/rights.ts';

const { group, plural } = CONNECTIVITY_CHECKS;

/** The RBAC rights of the controller of ConnectivityChecks. A clean-up has nothing to remove. */
export function connectivityCheckRights(): ControllerRights {
  return {
    controller: {
      cluster: [
        rule(group, [plural], ['list', 'watch']),
        { ...rule(group, [`${plural}/status`], ['patch']), why: 'Verdict, findings and outages are in the status.' },
      ],
      own: [],
    },
    cleanup: NO_RIGHTS,
  };
}
