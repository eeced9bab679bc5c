import type {
  V1ClusterRole,
  V1Container,
  V1Deployment,
  V1EnvVar,
  V1PodSecurityContext,
  V1PolicyRule,
  V1RoleBinding,
} from '@kubernetes/client-node';
import { variableName } from '../../../src/options/flagTable.ts';
import type { Manifest } from '../../chart/helm.ts';

/** Flags that belong to the rights, the replicas and the ports. All others can be set by a Subscription. */
const FIXED = ['namespace', 'leader-elect', 'health-probe-bind-address', 'metrics-bind-address'];

/** The `install` of a ClusterServiceVersion. */
export interface InstallStrategy {
  strategy: 'deployment';
  spec: Install;
}

interface Install {
  clusterPermissions: Permissions[];
  permissions: Permissions[];
  deployments: { name: string; label: Record<string, string>; spec: object }[];
}

interface Permissions {
  serviceAccountName: string;
  rules: V1PolicyRule[];
}

/**
 * The Deployments and the rights of the operator, as the chart renders them.
 *
 * @param image replaces the image of the operator
 */
export function installStrategy(objects: readonly Manifest[], image?: string): InstallStrategy {
  const deployments = objects.filter(({ kind }) => kind === 'Deployment');
  if (deployments.length === 0) throw new Error('the chart renders no Deployment');
  return {
    strategy: 'deployment',
    spec: {
      clusterPermissions: deployments.map((each) => permissionsOf(each, objects, 'ClusterRoleBinding')),
      permissions: deployments.map((each) => permissionsOf(each, objects, 'RoleBinding')),
      deployments: deployments.map((each) => deploymentOf(each, image)),
    },
  };
}

function deploymentOf({ metadata, spec }: V1Deployment, image?: string): Install['deployments'][number] {
  const { template } = spec!;
  const podSpec = {
    ...template.spec!,
    securityContext: withoutIds(template.spec!.securityContext!),
    containers: template.spec!.containers.map((one) => container(one, image)),
  };
  return {
    name: metadata!.name!,
    label: metadata!.labels!,
    spec: { ...spec, template: { ...template, spec: podSpec } },
  };
}

/** Returns the rules of the roles that bindings of this kind give to the account of the Deployment. */
function permissionsOf(
  deployment: V1Deployment,
  objects: readonly Manifest[],
  kind: 'ClusterRoleBinding' | 'RoleBinding',
): Permissions {
  const serviceAccountName = deployment.spec!.template.spec!.serviceAccountName!;
  const bindings = objects.filter((object) => object.kind === kind) as object[] as V1RoleBinding[];
  const bound = bindings.filter(({ subjects }) => subjects?.some(({ name }) => name === serviceAccountName));
  const rules = bound.flatMap(({ roleRef }) => {
    const role = objects.find((each) => each.kind === roleRef.kind && each.metadata.name === roleRef.name);
    if (role === undefined) throw new Error(`the chart binds ${roleRef.kind} ${roleRef.name}, and renders none`);
    return (role as V1ClusterRole).rules ?? [];
  });
  return { serviceAccountName, rules };
}

/**
 * Without user and group IDs. OpenShift assigns IDs of the range of the namespace, and refuses others; a Subscription
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

/** The variable that replaces an argument; undefined if it stays an argument. */
function variable(arg: string): V1EnvVar | undefined {
  const [, flag = '', value = ''] = /^--([^=]+)=(.*)$/.exec(arg) ?? [];
  return flag === '' || FIXED.includes(flag) ? undefined : { name: variableName(flag), value };
}
