import type {
  V1ClusterRole,
  V1Container,
  V1Deployment,
  V1EnvVar,
  V1PodSecurityContext,
  V1PolicyRule,
  V1RoleRef,
} from '@kubernetes/client-node';
import { variableName } from '../../../src/options/flagTable.ts';
import type { Manifest } from '../../chart/helm.ts';

/** Flags that belong to the rights, the replicas and the ports. All others can be set by a Subscription. */
const FIXED = ['namespace', 'leader-elect', 'health-probe-bind-address', 'metrics-bind-address'];

/** The `install` of a ClusterServiceVersion. */
export interface InstallStrategy {
  strategy: 'deployment';
  spec: {
    clusterPermissions: Permissions[];
    permissions: Permissions[];
    deployments: { name: string; label: Record<string, string>; spec: object }[];
  };
}

interface Permissions {
  serviceAccountName: string;
  rules: V1PolicyRule[];
}

/**
 * The Deployment and the rights of the operator, as the chart renders them.
 *
 * @param image replaces the image of the operator
 */
export function installStrategy(objects: readonly Manifest[], image?: string): InstallStrategy {
  const { metadata, spec } = find(objects, 'Deployment') as V1Deployment;
  const serviceAccountName = find(objects, 'ServiceAccount').metadata.name;
  const { template } = spec!;
  const podSpec = {
    ...template.spec!,
    securityContext: withoutIds(template.spec!.securityContext!),
    containers: template.spec!.containers.map((one) => container(one, image)),
  };
  return {
    strategy: 'deployment',
    spec: {
      clusterPermissions: [{ serviceAccountName, rules: boundBy('ClusterRoleBinding', objects) }],
      permissions: [{ serviceAccountName, rules: boundBy('RoleBinding', objects) }],
      deployments: [
        {
          name: metadata!.name!,
          label: metadata!.labels!,
          spec: { ...spec, template: { ...template, spec: podSpec } },
        },
      ],
    },
  };
}

/**
 * Without user and group IDs. OpenShift assigns those of the range of the namespace, and refuses others; a Subscription
 * cannot remove them. Elsewhere the user of the image applies: it is a number, as runAsNonRoot requires.
 */
function withoutIds(context: V1PodSecurityContext): V1PodSecurityContext {
  return { ...context, runAsUser: undefined, runAsGroup: undefined, fsGroup: undefined };
}

/**
 * The container with its flags as environment variables: a Subscription can replace variables (spec.config.env), but no
 * arguments.
 */
function container(one: V1Container, image = one.image): V1Container {
  const args = one.args ?? [];
  return {
    ...one,
    image,
    args: args.filter((arg) => variable(arg) === undefined),
    env: [...(one.env ?? []), ...args.flatMap((arg) => variable(arg) ?? [])],
  };
}

/** The variable in place of an argument; undefined if it stays an argument. */
function variable(arg: string): V1EnvVar | undefined {
  const [, flag = '', value = ''] = /^--([^=]+)=(.*)$/.exec(arg) ?? [];
  return flag === '' || FIXED.includes(flag) ? undefined : { name: variableName(flag), value };
}

/** The rules of the roles that bindings of this kind name. */
function boundBy(kind: 'ClusterRoleBinding' | 'RoleBinding', objects: readonly Manifest[]): V1PolicyRule[] {
  const bindings = objects.filter((object) => object.kind === kind);
  return bindings.flatMap((binding) => {
    const { kind: roleKind, name } = binding.roleRef as V1RoleRef;
    const role = objects.find((each) => each.kind === roleKind && each.metadata.name === name);
    if (role === undefined) throw new Error(`the chart binds ${roleKind} ${name}, and renders none`);
    return (role as V1ClusterRole).rules ?? [];
  });
}

function find(objects: readonly Manifest[], kind: string): Manifest {
  const found = objects.filter((object) => object.kind === kind);
  if (found.length !== 1) throw new Error(`the chart renders ${found.length} objects of kind ${kind}`);
  return found[0]!;
}
