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
export function optionalRights(): string[] {
  const rules = CONTROLLERS.flatMap((each) => weightsOf(each)?.cluster ?? []);
  return rules.flatMap(({ apiGroups: [group = ''] = [], resources = [], verbs }) =>
    resources.flatMap((resource) => {
      const [plural, subresource] = resource.split('/');
      const name = [group === '' ? plural : `${plural}.${group}`, subresource].filter(Boolean).join('/');
      return verbs.map((verb) => `${verb} ${name}`);
    }),
  );
}

/** All rights that the chart gives with weights.enabled. */
export function allRights(): V1PolicyRule[] {
  return CONTROLLERS.flatMap((each) => {
    const { controller } = each.rights(NAMESPACE);
    const optional = weightsOf(each);
    return [...controller.cluster, ...controller.own, ...(optional?.cluster ?? []), ...(optional?.own ?? [])];
  });
}

/** Logs the requests of these users, of kind Policy (audit.k8s.io/v1). */
export function auditPolicyOf(...users: string[]): object {
  return {
    ...{ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'] },
    rules: [{ level: 'Metadata', users }, { level: 'None' }],
  };
}

/** Rights that the operator needs, and no line of the audit log shows. */
export const UNSEEN = [
  // A server-side apply that creates an object needs the right, and is a patch.
  'create dnsendpoints.externaldns.k8s.io',
  // The admission plugin OwnerReferencesPermissionEnforcement asks for them.
  'update httproutes.gateway.networking.k8s.io/finalizers',
  'update ingresses.networking.k8s.io/finalizers',
];
