import type { V1PolicyRule } from '@kubernetes/client-node';
import { CONTROLLERS } from '../../../src/controllers/registry.ts';

const NAMESPACE = 'traffic-operator-system';
/** The rights of weights.enabled, as the operator's metrics name them: `patch trafficweights.traffic.example.com/status`. */
export function optionalRights(): string[] {
  const rules = CONTROLLERS.flatMap((each) => each.rights(NAMESPACE).onlyWith?.cluster ?? []);
  return rules.flatMap(({ apiGroups: [group = ''] = [], resources = [], verbs }) =>
    resources.flatMap((resource) => {
      const [plural, subresource] = resource.split('/');
      const name = [group === '' ? plural : `${plural}.${group}`, subresource].filter(Boolean).join('/');
      return verbs.map((verb) => `${verb} ${name}`);
    }),
  );
}

/** The right that each kind of request to the API server took, and the status code, from the operator's metrics. */
export function requestsIn(metrics: string): { right: string; code: string | undefined }[] {
  const sample = /^traffic_operator_api_requests_total\{verb="(.+?)",resource="(.+?)",code="(.+?)"\} /gm;
  return [...metrics.matchAll(sample)].map(([, verb, resource, code]) => ({ right: `${verb} ${resource}`, code }));
}

/** All rights that the chart gives with weights.enabled. */
export function allRights(): V1PolicyRule[] {
  return CONTROLLERS.map((each) => each.rights(NAMESPACE)).flatMap(({ controller, onlyWith }) => [
    ...controller.cluster,
    ...controller.own,
    ...(onlyWith?.cluster ?? []),
    ...(onlyWith?.own ?? []),
  ]);
}

/** Logs the requests of these users, of kind Policy (audit.k8s.io/v1). */
export function auditPolicyOf(...users: string[]): object {
  return {
    ...{ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'] },
    rules: [{ level: 'Metadata', users }, { level: 'None' }],
  };
}
