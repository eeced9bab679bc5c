import { readFileSync } from 'node:fs';
import type { V1JSONSchemaProps } from '@kubernetes/client-node';
import { parse } from 'yaml';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Manifest } from '../../chart/helm.ts';
import type { GeneratedCrd } from '../crds.ts';
import { NAMESPACE } from '../deploy.ts';
import { describe, KINDS } from './description.ts';
import { descriptors } from './descriptors.ts';
import { examples } from './examples.ts';
import { installStrategy, type InstallStrategy } from './install.ts';
import { skipRange } from './upgrade.ts';

const CHART = new URL('../../../charts/traffic-operator/Chart.yaml', import.meta.url);
const ICON = new URL('icon.svg', import.meta.url);

/** The name of the ClusterServiceVersion of a version. */
export function csvName(version: string): string {
  return `${packageJson.name}.v${version}`;
}

/**
 * The ClusterServiceVersion (operators.coreos.com/v1alpha1).
 *
 * @param options.previous the version that it replaces; '' for none
 */
export function clusterServiceVersion(options: {
  objects: readonly Manifest[];
  crds: readonly GeneratedCrd[];
  version: string;
  previous: string;
  image?: string;
}): object {
  const { objects, crds, version, previous, image } = options;
  const chart = parse(readFileSync(CHART, 'utf8')) as Chart;
  const install = installStrategy(objects, image);
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: {
      name: csvName(version),
      // A placeholder: OLM creates the object in the namespace of the Subscription.
      namespace: 'placeholder',
      annotations: annotations(crds, version, managerImage(install)),
    },
    spec: {
      displayName: 'Traffic Operator',
      description: describe(crds.map(({ kind }) => kind.resource.kind)),
      version,
      ...(previous !== '' && { replaces: csvName(previous) }),
      minKubeVersion: /\d+\.\d+\.\d+/.exec(chart.kubeVersion)![0],
      maturity: 'alpha',
      provider: { name: packageJson.name },
      keywords: chart.keywords,
      links: parse(chart.annotations['artifacthub.io/links']!) as object[],
      icon: [{ base64data: readFileSync(ICON).toString('base64'), mediatype: 'image/svg+xml' }],
      // The operator works for the whole cluster: nodes are not of a namespace.
      installModes: ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'].map((type) => ({
        type,
        supported: type === 'AllNamespaces',
      })),
      customresourcedefinitions: { owned: crds.map(ownedCrd) },
      relatedImages: relatedImages(chart, managerImage(install)),
      install,
    },
  };
}

interface Chart {
  kubeVersion: string;
  keywords: string[];
  annotations: Record<string, string>;
}

function annotations(crds: readonly GeneratedCrd[], version: string, image: string): Record<string, string> {
  return {
    'alm-examples': JSON.stringify(examples(crds), null, 2),
    capabilities: 'Seamless Upgrades',
    categories: 'Networking, Monitoring',
    containerImage: image,
    description: packageJson.description,
    'operators.operatorframework.io/internal-objects': JSON.stringify(internalKinds(crds)),
    'olm.skipRange': skipRange(version),
    // The rights name the namespaces of node-exporter and the agents, whose names begin with the operator's namespace.
    'operatorframework.io/suggested-namespace': NAMESPACE,
    support: packageJson.name,
  };
}

/** Kinds that consoles hide: https://docs.openshift.com/container-platform/4.16/operators/operator_sdk/osdk-generating-csvs.html */
function internalKinds(crds: readonly GeneratedCrd[]): string[] {
  return crds.filter(({ kind }) => kind.isInternal === true).map(({ crd }) => crd.metadata!.name!);
}

function managerImage({ spec }: InstallStrategy): string {
  const [deployment] = spec.deployments;
  const { template } = deployment!.spec as { template: { spec: { containers: { image: string }[] } } };
  return template.spec.containers[0]!.image;
}

/** The images that a registry without access to others needs. */
function relatedImages(chart: Chart, image: string): object[] {
  const all = parse(chart.annotations['artifacthub.io/images']!) as { name: string; image: string }[];
  return all.map((one) => (one.name === packageJson.name ? { ...one, image } : one));
}

function ownedCrd({ kind, crd }: GeneratedCrd): object {
  const { resource } = kind;
  const [version] = crd.spec.versions;
  const { spec, status } = version!.schema!.openAPIV3Schema!.properties as Record<string, V1JSONSchemaProps>;
  const { description, resources } = KINDS[resource.kind]!;
  return {
    name: crd.metadata!.name!,
    version: version!.name,
    kind: resource.kind,
    displayName: resource.kind,
    description,
    resources,
    specDescriptors: descriptors(spec),
    statusDescriptors: descriptors(status),
  };
}
