import { isDeepStrictEqual } from 'node:util';
import type { V1PolicyRule } from '@kubernetes/client-node';
import { FEATURES } from '../../scripts/generate/features.ts';
import { CONTROLLERS } from '../../src/controllers/registry.ts';

/**
 * The rules of the ClusterRole of the manager in deploy/ without those of stacks: the rights of an operator without this feature.
 * Those of stacks include others of it, such as that to create Deployments, and would hide that one of these is missing.
 *
 * @throws if the role has none of them: then nothing is left to take away
 */
export function withoutOptionalRights(rules: readonly V1PolicyRule[], namespace: string): V1PolicyRule[] {
  const kept = [...rules];
  const optional = CONTROLLERS.flatMap((controller) => controller.rights(namespace).onlyWith ?? []).filter(
    ({ values, process }) =>
      process === undefined && values.every((value) => FEATURES.some((feature) => feature === value)),
  );
  for (const rule of optional.flatMap(({ cluster, own, namespaces = [] }) => [...cluster, ...own, ...namespaces])) {
    // The last one: the chart renders optional rules after the others, of which one may be the same.
    const index = kept.findLastIndex((each) =>
      isDeepStrictEqual({ why: rule.why, ...each }, { why: undefined, ...rule }),
    );
    if (index >= 0) kept.splice(index, 1);
  }
  if (kept.length === rules.length) throw new Error('the role has no optional rights');
  return kept;
}
