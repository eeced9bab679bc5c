import type { V1Deployment } from '@kubernetes/client-node';
import { helmTemplate, type Manifest } from '../chart/helm.ts';
import { manifest } from './crds.ts';

const OPENSHIFT = 'openshift.enabled=true,connectivity.enabled=true,dashboards.enabled=false,crds.enabled=false';

/** The SecurityContextConstraints of node-exporter and of the agents, as the chart renders them. */
export function constraints(): Manifest[] {
  return helmTemplate('--set', OPENSHIFT).filter(({ kind }) => kind === 'SecurityContextConstraints');
}

/**
 * The differences for the operator on OpenShift, as in the chart. 9890 is in the range that OpenShift requires to be open between nodes,
 * and not in its host port registry; 9100 is the port of its own node-exporter, which asks for a token.
 */
const VARIABLES = [
  { name: 'TRAFFIC_OPERATOR_OPENSHIFT', value: 'true' },
  { name: 'TRAFFIC_OPERATOR_NODE_EXPORTER_PORT', value: '9890' },
];

/**
 * An object of the operator without the argument for the port of node-exporter, whose value is the default: an argument
 * takes precedence over the variable of the component.
 */
export function withoutPort(object: Manifest): Manifest {
  if (object.kind !== 'Deployment') return object;
  const { spec } = structuredClone(object) as Manifest & V1Deployment;
  for (const container of spec!.template.spec!.containers)
    container.args = container.args?.filter((arg) => !arg.startsWith('--node-exporter-port='));
  return { ...object, spec };
}

/**
 * A component for any of the kustomizations of deploy/: it takes the fixed IDs off all pods, and gives the operator
 * its settings by variables. A patch with null removes a field, and matches by `target` alone.
 */
export function openshiftComponent(): object {
  const ids = { runAsUser: null, runAsGroup: null, fsGroup: null };
  return {
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    patches: [
      patch({ kind: 'Deployment|DaemonSet|Job' }, { securityContext: ids }),
      patch({ kind: 'Deployment', name: 'traffic-operator' }, { containers: [{ name: 'manager', env: VARIABLES }] }),
    ],
  };
}

function patch(target: object, podSpec: object): object {
  // A patch must have a name; with a target, kustomize does not read it.
  const metadata = { name: 'any' };
  const spec = { template: { spec: podSpec } };
  return { target, patch: manifest({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec }) };
}
