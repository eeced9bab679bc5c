import type { KubeObject } from '../../../src/runtime/client/resource.ts';
import { disk } from './world.ts';

const NAME = 'zz-adds-a-term';
const TERMS = '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms';
const TERM = `dyn({'matchExpressions': [{'key': dyn('${disk.key}'), 'operator': dyn('In'), 'values': dyn(${JSON.stringify(disk.values)})}]})`;

/**
 * A policy of somebody else that adds a term with `disk` to pods with the label `adds-a-term` that have required terms. The
 * API server runs policies in the order of their names, and those with reinvocationPolicy IfNeeded again after this one.
 */
export function policyThatAddsATerm(): { policy: KubeObject; binding: KubeObject } {
  const kinds = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
  const isAdded = `object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.exists(t,
    t.?matchExpressions.orValue([]).exists(e, e.key == '${disk.key}'))`;
  const spec = {
    failurePolicy: 'Ignore',
    reinvocationPolicy: 'Never',
    matchConstraints: { resourceRules: [kinds] },
    matchConditions: [
      { name: 'asked-for', expression: "'adds-a-term' in object.metadata.?labels.orValue({})" },
      { name: 'not-there', expression: `!(${isAdded})` },
    ],
    mutations: [
      {
        patchType: 'JSONPatch',
        jsonPatch: { expression: `[JSONPatch{op: 'add', path: '${TERMS}/-', value: ${TERM}}]` },
      },
    ],
  };
  return {
    policy: { metadata: { name: NAME }, spec } as KubeObject,
    binding: { metadata: { name: NAME }, spec: { policyName: NAME } } as KubeObject,
  };
}
