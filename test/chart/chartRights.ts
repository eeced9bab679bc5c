import { stringify } from 'yaml';
import { helmTemplate, isHook } from '../../scripts/chart/helm.ts';
import type { ControlPlane } from '../harness/controlPlane.ts';
import { kubectl } from '../harness/kubectl.ts';
import { find, podOf } from './rendered.ts';

const KINDS = new Set(['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']);

/**
 * Gives the ServiceAccount of the operator exactly the rights that the chart renders with these values. As with helm, what another list of
 * namespaces has bound is removed.
 *
 * @param values as `helm --set` takes them
 * @returns the arguments of the operator that the chart renders
 */
export async function applyRights(plane: ControlPlane, values: string): Promise<readonly string[]> {
  const objects = helmTemplate('--set', values).filter((object) => !isHook(object));
  const rights = objects.filter(({ kind }) => KINDS.has(kind));
  await kubectl(plane, ['delete', 'rolebindings', '-A', '-lapp.kubernetes.io/part-of=traffic-operator']);
  await kubectl(plane, ['apply', '-f-'], rights.map((object) => stringify(object)).join('---\n'));
  return podOf(find(objects, 'Deployment')).containers[0].args;
}
