import type { KubeObject } from '../../../src/runtime/client/resource.ts';
import { disk } from './world.ts';

const NAME = 'zz-adds-a-term';
const TERMS = '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms';
const TERM = `dyn({'matchExpressions': [{'key': dyn('${disk.key}'), 'operator': dyn('In'), 'values': dyn(${JSON.stringify(disk.values)})}]})`;

const REQUIRED = 'object.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution';

/**
 * A policy of another owner that adds a term with `disk` to pods with the label `adds-a-term` that have required terms. The
 * API server runs policies in an order of chance (it iterates over a map, apiserver 0.36), and those with reinvocationPolicy
 * IfNeeded again after a later one changed the pod: with both orders, this one adds its term after the first run of ours.
 */
export function policyThatAddsATerm(): { policy: KubeObject; binding: KubeObject } {
  const kinds = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
  const terms = `${REQUIRED}.?nodeSelectorTerms.orValue([])`;
  const isAdded = `${terms}.exists(t, t.?matchExpressions.orValue([]).exists(e, e.key == '${disk.key}'))`;
  const patch = `JSONPatch{op: 'add', path: '${TERMS}/-', value: ${TERM}}`;
  const spec = {
    failurePolicy: 'Ignore',
    reinvocationPolicy: 'IfNeeded',
    matchConstraints: { resourceRules: [kinds] },
    // Only a policy whose conditions match runs again, so the others are part of the mutation.
    matchConditions: [{ name: 'asked-for', expression: "'adds-a-term' in object.metadata.?labels.orValue({})" }],
    mutations: [
      {
        patchType: 'JSONPatch',
        jsonPatch: { expression: `size(${terms}) == 0 || ${isAdded} ? [] : [${patch}]` },
      },
    ],
  };
  return {
    policy: { metadata: { name: NAME }, spec } as KubeObject,
    binding: { metadata: { name: NAME }, spec: { policyName: NAME } } as KubeObject,
  };
}
