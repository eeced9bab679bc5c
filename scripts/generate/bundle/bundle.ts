import packageJson from '../../../package.json' with { type: 'json' };
import { helmTemplate, type Manifest } from '../../chart/helm.ts';
import { customResourceDefinitions, manifest, type GeneratedCrd } from '../crds.ts';
import { NAMESPACE, operatorObjects, renderChart } from '../deploy.ts';
import type { GeneratedFile } from '../file.ts';
import { annotations, dockerfile } from './annotations.ts';
import { valuesWithout, type Feature } from '../features.ts';
import { clusterServiceVersion } from './csv.ts';
import { isOfBundle } from './kinds.ts';
import { previousVersion } from './upgrade.ts';

const HEADER = '# Generated from charts/traffic-operator by `make generate`. Do not edit.\n';

/** Differences from the bundle in the repository. */
export interface BundleOptions {
  /** Image of the operator. Default: the image of deploy/. */
  image?: string;
  version?: string;
  /** Namespace that it is installed into. The rights name others that begin with it. Default: the namespace of deploy/. */
  namespace?: string;
  /** The version that this one replaces. Default: the release before it in CHANGELOG.md; '' for none. */
  previous?: string;
  /** Features whose CRD, rights and flag the bundle does not have. Default: none. */
  without?: readonly Feature[];
}

/**
 * bundle/ for the Operator Lifecycle Manager: the objects of the chart with its default values, but with weights, in
 * the format of https://olm.operatorframework.io/docs/tasks/creating-operator-manifests/. OLM creates the
 * Deployment, the account and the roles from the ClusterServiceVersion. What it can not create is in deploy/olm.
 */
export function bundle(options: BundleOptions = {}): GeneratedFile[] {
  const { version = packageJson.version, image, namespace = NAMESPACE, without = [] } = options;
  const { previous = previousVersion(version) ?? '' } = options;
  const values = valuesWithout(without);
  const objects = operatorObjects(renderChart(values)).map((object) => withVersion(object, version));
  const crds = servedCrds(values);
  const csv = clusterServiceVersion({ objects, crds, version, previous, image });
  const files = [
    file(`manifests/${packageJson.name}.clusterserviceversion.yaml`, csv),
    ...crds.map(({ crd, file: name }) => file(`manifests/${name}`, crd)),
    ...objects.filter(isOfBundle).map((object) => file(`manifests/${nameOf(object)}`, withoutNamespace(object))),
    file('metadata/annotations.yaml', { annotations: annotations() }),
    { path: 'bundle/Dockerfile', content: HEADER + dockerfile() },
  ];
  return files.map(({ path, content }) => ({ path, content: content.replaceAll(NAMESPACE, namespace) }));
}

/** The CRDs that the chart installs with these values, which are those whose kinds its flags serve. */
function servedCrds(values: readonly string[]): GeneratedCrd[] {
  const objects = helmTemplate('--show-only', 'templates/crds/*.yaml', ...values.flatMap((value) => ['--set', value]));
  const rendered = objects.map(({ metadata }) => metadata.name);
  return customResourceDefinitions().filter(({ crd }) => rendered.includes(crd.metadata?.name ?? ''));
}

function file(path: string, object: object): GeneratedFile {
  return { path: `bundle/${path}`, content: HEADER + manifest(object) };
}

function nameOf({ metadata, kind }: Manifest): string {
  return `${metadata.name}.${kind.toLowerCase()}.yaml`;
}

/** OLM creates the objects in the namespace of the Subscription. */
function withoutNamespace(object: Manifest): Manifest {
  return { ...object, metadata: { ...object.metadata, namespace: undefined } };
}

function withVersion(object: Manifest, version: string): Manifest {
  const text = JSON.stringify(object);
  const label = (value: string): string => `"app.kubernetes.io/version":"${value}"`;
  return JSON.parse(text.replaceAll(label(packageJson.version), label(version))) as Manifest;
}
