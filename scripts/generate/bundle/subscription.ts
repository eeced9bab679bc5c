import packageJson from '../../../package.json' with { type: 'json' };
import { file, kustomization, NAMESPACE, namespace, operatorObjects } from '../deploy.ts';
import type { GeneratedFile } from '../file.ts';
import { CHANNEL } from './annotations.ts';
import { isUnsupported } from './kinds.ts';

const HEADER = '# Generated from scripts/generate/bundle by `make generate`. Do not edit.\n';
/** The image of the catalog, which catalog.Dockerfile of `make catalog` builds. */
export const CATALOG_IMAGE = `${packageJson.name}-catalog:${packageJson.version}`;

const { name } = packageJson;

/** deploy/olm for `kubectl apply -k`: what asks OLM for the operator, and the objects that OLM can not create. */
export function olm(): GeneratedFile[] {
  return [
    file('olm/kustomization.yaml', [kustomization(['namespace.yaml', 'subscription.yaml', 'policies.yaml'])], HEADER),
    file('olm/namespace.yaml', [namespace()], HEADER),
    file('olm/subscription.yaml', [catalogSource(), operatorGroup(), subscription()], HEADER),
    file('olm/policies.yaml', operatorObjects().filter(isUnsupported), HEADER),
  ];
}

function catalogSource(): object {
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'CatalogSource',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      displayName: 'Traffic Operator',
      publisher: name,
      sourceType: 'grpc',
      image: CATALOG_IMAGE,
      // The namespace admits no other pods.
      grpcPodConfig: { securityContextConfig: 'restricted' },
    },
  };
}

/** Without target namespaces: all of them. */
function operatorGroup(): object {
  return { apiVersion: 'operators.coreos.com/v1', kind: 'OperatorGroup', metadata: { name, namespace: NAMESPACE } };
}

function subscription(): object {
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'Subscription',
    metadata: { name, namespace: NAMESPACE },
    spec: { name, channel: CHANNEL, source: name, sourceNamespace: NAMESPACE, installPlanApproval: 'Automatic' },
  };
}
