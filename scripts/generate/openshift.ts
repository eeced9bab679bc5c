import { helmTemplate, type Manifest } from '../chart/helm.ts';
import { manifest } from './crds.ts';

const OPENSHIFT = 'openshift.enabled=true,connectivity.enabled=true,dashboards.enabled=false,crds.enabled=false';

/** The SecurityContextConstraints of node-exporter and of the agents, as the chart renders them. */
export function constraints(): Manifest[] {
  return helmTemplate('--set', OPENSHIFT).filter(({ kind }) => kind === 'SecurityContextConstraints');
}

/**
 * A component for any of the kustomizations of deploy/: it takes the fixed IDs off all pods, and gives the operator
 * --openshift by its variable. A patch with null removes a field, and matches by `target` alone.
 */
export function openshiftComponent(): object {
  const ids = { runAsUser: null, runAsGroup: null, fsGroup: null };
  const env = [{ name: 'TRAFFIC_OPERATOR_OPENSHIFT', value: 'true' }];
  return {
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    patches: [
      patch({ kind: 'Deployment|DaemonSet|Job' }, { securityContext: ids }),
      patch({ kind: 'Deployment', name: 'traffic-operator' }, { containers: [{ name: 'manager', env }] }),
    ],
  };
}

function patch(target: object, podSpec: object): object {
  // A patch must have a name; with a target, kustomize does not read it.
  const metadata = { name: 'any' };
  const spec = { template: { spec: podSpec } };
  return { target, patch: manifest({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec }) };
}
