import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';

/** Where the operator has the right to write the Deployments of TrafficWatches. */
export interface AllowedDeployments {
  readonly enabled: boolean;
  /** Empty: every namespace. */
  readonly namespaces: readonly string[];
}

const INSTEAD = 'or create another TrafficWatch with spec.targetRef or spec.podSelector';

/**
 * Returns the problem and its solution, for users, if the operator may not write the Deployment of a TrafficWatch. The
 * message does not name the allowed namespaces: they may belong to other users.
 *
 * | spec.deployment | enabled | its namespace is allowed | problem |
 * |-----------------|---------|--------------------------|---------|
 * | absent          | any     | any                      | none    |
 * | set             | no      | any                      | names trafficWatch.deployments.enabled    |
 * | set             | yes     | no                       | names trafficWatch.deployments.namespaces |
 * | set             | yes     | yes                      | none    |
 */
export function deploymentProblem(
  { metadata, spec }: Pick<TrafficWatch, 'metadata' | 'spec'>,
  { enabled, namespaces }: AllowedDeployments,
): string | undefined {
  if (spec.deployment === undefined) return undefined;
  if (!enabled) {
    return `spec.deployment is set, but the operator may not write Deployments: set trafficWatch.deployments.enabled of the chart to true (--deployments), ${INSTEAD}`;
  }
  const namespace = metadata?.namespace ?? '';
  if (namespaces.length === 0 || namespaces.includes(namespace)) return undefined;
  return `spec.deployment is set, but the operator may not write Deployments in namespace ${namespace}: add it to trafficWatch.deployments.namespaces of the chart (--deployment-namespace), ${INSTEAD}`;
}
