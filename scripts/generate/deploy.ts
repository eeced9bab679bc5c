import type { V1Deployment } from '@kubernetes/client-node';
import { agentsNamespaceOf, defaultConnectivityOptions } from '../../src/connectivity/objects/names.ts';
import { connectivityObjects } from '../../src/connectivity/objects/objects.ts';
import { helmTemplate, isHook, type Manifest } from '../chart/helm.ts';
import { cleanupNamespace, naming, standaloneCleanup } from './cleanup.ts';
import { agentResource } from '../../src/api/agent/report.ts';
import { connectivityCheckResource } from '../../src/api/connectivitycheck/connectivityCheck.ts';
import { crdFiles, manifest, serverCrd } from './crds.ts';
import { valuesWithout } from './features.ts';
import type { GeneratedFile } from './file.ts';
import { constraints, openshiftComponent, withoutPort } from './openshift.ts';

/** The namespace of the operator in deploy/. */
export const NAMESPACE = 'traffic-operator-system';
const OF_THE_CHART = '# Generated from charts/traffic-operator by `make generate`. Do not edit.\n';
const OF_CONNECTIVITY = '# Generated from src/connectivity/objects by `make generate`. Do not edit.\n';
const OF_OPENSHIFT = '# Generated from scripts/generate/openshift.ts by `make generate`. Do not edit.\n';
/** Labels with information about helm; no selector uses them. */
const OF_HELM = ['helm.sh/chart', 'app.kubernetes.io/managed-by'];

const RESTRICTED = { 'pod-security.kubernetes.io/enforce': 'restricted' };

/** The oldest release that serves MutatingAdmissionPolicy as v1. */
const PLACEMENT_POLICY_SINCE = '1.36.0';

/** Whether older releases do not serve the kind: it has its own kustomization, so that the rest can be applied there. */
function isPlacementPolicy({ kind }: Manifest): boolean {
  return kind.startsWith('MutatingAdmissionPolicy');
}

/**
 * deploy/ for `kubectl apply -k`: what the chart renders with its default values, but with weights, without helm.
 *
 * The CRD has its own kustomization. TrafficWatches have a finalizer that the operator removes: one command that
 * deletes both the operator and the CRD would wait for an operator that no longer runs.
 */
export function deploy(): GeneratedFile[] {
  const objects = renderChart();
  const placement = objects.filter(isPlacementPolicy);
  const operator = operatorObjects(objects);
  const cleanup = objects.filter(isHook);
  return [
    file('kustomization.yaml', [kustomization(['namespace.yaml', 'operator.yaml'])]),
    file('namespace.yaml', [namespace()]),
    file('operator.yaml', operator.map(withoutPort)),
    file('crds/kustomization.yaml', [kustomization(crdFiles())]),
    file('placement/kustomization.yaml', [kustomization(['policy.yaml'])]),
    file('placement/policy.yaml', placement.map(withoutHelm)),
    file('stacks/kustomization.yaml', [kustomization(['rights.yaml'])]),
    file('stacks/rights.yaml', stackRights(objects)),
    file('openshift/kustomization.yaml', [openshiftComponent()], OF_OPENSHIFT),
    file('openshift/constraints/kustomization.yaml', [kustomization(['constraints.yaml'])]),
    file('openshift/constraints/constraints.yaml', constraints().map(withoutHelm)),
    ...connectivity(imageOf(operator)),
    file('cleanup/kustomization.yaml', [kustomization(['namespace.yaml', 'cleanup.yaml'])]),
    file('cleanup/namespace.yaml', [cleanupNamespace(RESTRICTED)]),
    file('cleanup/cleanup.yaml', standaloneCleanup(cleanup.map(withoutHelm))),
  ];
}

/** The objects of the operator itself, without labels and annotations of helm. */
export function operatorObjects(objects = renderChart()): Manifest[] {
  return objects
    .filter((object) => !isHook(object) && !isPlacementPolicy(object))
    .map((object) => naming(withoutHelm(object), NAMESPACE));
}

/** Returns the rights that the chart adds with stacks of users. @param objects of the chart without them */
function stackRights(objects: readonly Manifest[]): Manifest[] {
  const idOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;
  const known = new Set(objects.map(idOf));
  return operatorObjects(renderChart([...valuesWithout([]), 'stacks.enabled=true'])).filter(
    (object) => object.kind.includes('Role') && !known.has(idOf(object)),
  );
}

/**
 * The manifests that the chart renders without CRDs.
 *
 * @param values instead of its defaults, such as `weights.enabled=true`; default: the values of deploy/ and of the bundle
 */
export function renderChart(values: readonly string[] = valuesWithout([])): Manifest[] {
  // Dashboards are larger than everything else, and only for clusters whose Grafana looks for them.
  const all = ['crds.enabled=false', 'dashboards.enabled=false', ...values];
  return helmTemplate('--kube-version', PLACEMENT_POLICY_SINCE, '--set', all.join());
}

/** The connectivity check, with the image of the operator. */
function connectivity(image: string): GeneratedFile[] {
  // The namespace is also the namespace of the agents in the operator's deployment: only one can exist.
  const namespace = agentsNamespaceOf(NAMESPACE);
  const objects = connectivityObjects({
    ...defaultConnectivityOptions(namespace),
    agentsNamespace: namespace,
    image,
    reportIntervalSeconds: 60,
  });
  return [
    file(
      'connectivity/kustomization.yaml',
      [kustomization(['agents.yaml', 'connectivitychecks.yaml', 'connectivity.yaml'])],
      OF_CONNECTIVITY,
    ),
    file('connectivity/agents.yaml', [serverCrd(agentResource)], OF_CONNECTIVITY),
    file('connectivity/connectivitychecks.yaml', [serverCrd(connectivityCheckResource)], OF_CONNECTIVITY),
    file('connectivity/connectivity.yaml', objects, OF_CONNECTIVITY),
  ];
}

function imageOf(objects: readonly Manifest[]): string {
  const deployment = objects.find(({ kind }) => kind === 'Deployment') as V1Deployment | undefined;
  const image = deployment?.spec?.template.spec?.containers[0]?.image;
  if (image === undefined) throw new Error('the chart renders no Deployment with an image');
  return image;
}

/** A file of deploy/ with these objects. */
export function file(path: string, objects: readonly object[], header = OF_THE_CHART): GeneratedFile {
  return { path: `deploy/${path}`, content: header + objects.map(manifest).join('---\n') };
}

/** A kustomization of these files. */
export function kustomization(resources: string[]): object {
  return { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources };
}

/** The namespace of the operator. */
export function namespace(): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: RESTRICTED } };
}

function withoutHelm(object: Manifest): Manifest {
  const { annotations, labels, ...metadata } = object.metadata;
  const kept = entriesWithout(annotations, (key) => key.startsWith('helm.sh/'));
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: Object.fromEntries(entriesWithout(labels, (key) => OF_HELM.includes(key))),
      ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }),
    },
  };
}

function entriesWithout(map: Record<string, string> | undefined, drop: (key: string) => boolean): [string, string][] {
  return Object.entries(map ?? {}).filter(([key]) => !drop(key));
}
