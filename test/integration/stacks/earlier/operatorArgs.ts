import type { Manifest } from '../../../../scripts/chart/helm.ts';

/** Arguments that a test sets itself: addresses, and the election, in which it has no opponent. */
const OF_TEST = /^manager$|^--(leader-elect|health-probe-bind-address|metrics-bind-address)\b/;

/**
 * The arguments of the operator in a rendered chart, without those that a test sets itself.
 *
 * @throws Error if the chart has no Deployment of it
 */
export function operatorArgs(manifests: readonly Manifest[]): readonly string[] {
  const deployment = manifests.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'traffic-operator',
  );
  if (deployment === undefined) throw new Error('the chart has no Deployment traffic-operator');
  const { template } = deployment.spec as { template: { spec: { containers: [{ args: string[] }] } } };
  return template.spec.containers[0].args.filter((arg) => !OF_TEST.test(arg));
}
