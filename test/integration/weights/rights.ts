import type { V1PolicyRule } from '@kubernetes/client-node';
import type { OptionalRights } from '../../../src/controllers/contract/rights.ts';
import { CONTROLLERS } from '../../../src/controllers/registry.ts';

const NAMESPACE = 'traffic-operator-system';
/** The rights of the process for DNS weights, also with stacks.enabled. */
function ofProcess(): OptionalRights[] {
  const all = CONTROLLERS.flatMap((each) => each.rights(NAMESPACE).onlyWith ?? []);
  return all.filter(({ process }) => process === 'weights');
}

/** These rights, as rightsTaken() names them: `patch trafficweights.traffic.example.com/status`. */
function optionalRights(): string[] {
  const rules = ofProcess().flatMap(({ cluster, own }) => [...cluster, ...own]);
  return rules.flatMap(({ apiGroups: [group = ''] = [], resources = [], verbs }) =>
    resources.flatMap((resource) => {
      const [plural, subresource] = resource.split('/');
      const name = [group === '' ? plural : `${plural}.${group}`, subresource].filter(Boolean).join('/');
      return verbs.map((verb) => `${verb} ${name}`);
    }),
  );
}

/** The rights of the process that no request took. */
export function unusedRights(requests: readonly { readonly right: string }[]): string[] {
  const used = new Set(requests.map(({ right }) => right));
  // A watch-list needs the right to list, and the audit log has no request of its own.
  return optionalRights().filter((right) => !used.has(right) && !used.has(right.replace(/^list /, 'watch ')));
}

/** All rights that the chart gives the account of the process for DNS weights, but for events and the Lease. */
export function allRights(): V1PolicyRule[] {
  return ofProcess().flatMap(({ cluster, own }) => [...cluster, ...own]);
}

/** Rights that the operator needs, and no line of the audit log shows. */
export const UNSEEN = [
  // A server-side apply that creates an object needs the right, and is a patch.
  'create dnsendpoints.externaldns.k8s.io',
];
