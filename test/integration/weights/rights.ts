import type { V1PolicyRule } from '@kubernetes/client-node';
import type { ControllerModule } from '../../../src/controllers/contract/module.ts';
import type { OptionalRights } from '../../../src/controllers/contract/rights.ts';
import { CONTROLLERS } from '../../../src/controllers/registry.ts';

const NAMESPACE = 'traffic-operator-system';
function weightsOf(controller: ControllerModule): OptionalRights | undefined {
  const { onlyWith } = controller.rights(NAMESPACE);
  return onlyWith?.find(({ values }) => values.join() === 'weights');
}

/** The rights of weights.enabled, as rightsTaken() names them: `patch trafficweights.traffic.example.com/status`. */
function optionalRights(): string[] {
  const optional = CONTROLLERS.flatMap((each) => weightsOf(each) ?? []);
  const rules = optional.flatMap(({ cluster, own }) => [...cluster, ...own]);
  return rules.flatMap(({ apiGroups: [group = ''] = [], resources = [], verbs }) =>
    resources.flatMap((resource) => {
      const [plural, subresource] = resource.split('/');
      const name = [group === '' ? plural : `${plural}.${group}`, subresource].filter(Boolean).join('/');
      return verbs.map((verb) => `${verb} ${name}`);
    }),
  );
}

/** The rights of weights.enabled that no request took. */
export function unusedRights(requests: readonly { readonly right: string }[]): string[] {
  const used = new Set(requests.map(({ right }) => right));
  // A watch-list needs the right to list, and the audit log has no request of its own.
  return optionalRights().filter((right) => !used.has(right) && !used.has(right.replace(/^list /, 'watch ')));
}

/** All rights that the chart gives with weights.enabled, and with the Deployments of TrafficWatches, the default. */
export function allRights(): V1PolicyRule[] {
  return CONTROLLERS.flatMap((each) => {
    const { controller, onlyWith = [] } = each.rights(NAMESPACE);
    const given = onlyWith.filter(({ values }) => ['weights', 'trafficWatch.deployments'].includes(values.join()));
    return [controller, ...given].flatMap(({ cluster, own }) => [...cluster, ...own]);
  });
}

/** Rights that the operator needs, and no line of the audit log shows. */
export const UNSEEN = [
  // A server-side apply that creates an object needs the right, and is a patch.
  'create dnsendpoints.externaldns.k8s.io',
];
