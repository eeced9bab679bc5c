import type { V1IngressBackend, V1ObjectMeta } from '@kubernetes/client-node';

type Metadata = Pick<V1ObjectMeta, 'annotations' | 'labels'>;

/** Name of the port of a backend that is no Service: https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/#actions */
const USE_ANNOTATION = 'use-annotation';
const ACTIONS = 'alb.ingress.kubernetes.io/actions.';
/** Label of the Ingresses by which cert-manager answers HTTP-01 challenges. */
const SOLVER_LABEL = 'acme.cert-manager.io/http01-solver';
/** https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#canary */
const CANARY = 'nginx.ingress.kubernetes.io/canary';
const CANARY_WEIGHT = 'nginx.ingress.kubernetes.io/canary-weight';

/**
 * Returns a function that returns the Services that must be ready for a backend of an Ingress.
 *
 * | backend                                                       | Services                                   |
 * |---------------------------------------------------------------|--------------------------------------------|
 * | a Service                                                     | the Service                                |
 * | any, of a solver of cert-manager, or a canary of ingress-nginx without a weight | none: no usual request goes there |
 * | a resource                                                    | none: its readiness is not known           |
 * | an action of the AWS Load Balancer Controller that forwards   | the Services that it names, except for those with the weight 0 |
 * | another action, or an action that cannot be read or has more target groups than AWS allows | none          |
 */
export function servicesOfBackends({
  annotations = {},
  labels = {},
}: Metadata): (backend: V1IngressBackend) => readonly string[] {
  const isCanary = annotations[CANARY] === 'true' && !(Number(annotations[CANARY_WEIGHT]) > 0);
  const isUnused = isCanary || labels[SOLVER_LABEL] === 'true';
  // Thousands of paths may have one action.
  const actions = new Map<string, readonly string[]>();
  return ({ service }) => {
    if (service === undefined || isUnused) return [];
    const { name, port } = service;
    if (port?.name !== USE_ANNOTATION) return [name];
    const services = actions.get(name) ?? servicesOfAction(annotations[ACTIONS + name]);
    actions.set(name, services);
    return services;
  };
}

/** Most target groups of an action: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-limits.html */
const MOST_GROUPS = 5;

function servicesOfAction(text: string | undefined): string[] {
  const groups = fieldOf(fieldOf(parsed(text), 'forwardConfig'), 'targetGroups');
  if (!Array.isArray(groups) || groups.length > MOST_GROUPS) return [];
  return groups.flatMap((group: unknown) => {
    const name = fieldOf(group, 'serviceName');
    // A name with a slash would be read as a Service in another namespace.
    const isService = typeof name === 'string' && name !== '' && !name.includes('/');
    return isService && fieldOf(group, 'weight') !== 0 ? [name] : [];
  });
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

/** Returns a field of a JSON object. The controller ignores the case of its name, as Go does; version 1 began it with a capital. */
function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1] as unknown;
}
