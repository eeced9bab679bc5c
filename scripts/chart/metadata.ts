import { parse, parseDocument, stringify } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { KINDS } from '../generate/bundle/description.ts';
import { customResourceDefinitions } from '../generate/crds.ts';
import { chartValues } from './values.ts';

/** It is in no bundle. */
const AGENT = 'What an agent of the connectivity check has reported, in the format of k8s-netchecker.';

/**
 * Chart.yaml with the generated parts: the versions, and the annotations from which Artifact Hub shows images and CRDs
 * (https://artifacthub.io/docs/topics/annotations/helm/).
 *
 * @param text the current Chart.yaml; its other fields stay
 * @param sample a TrafficWatch to show
 */
export function renderChart(text: string, sample: string): string {
  const document = parseDocument(text);
  document.set('version', packageJson.version);
  document.set('appVersion', packageJson.version);
  document.setIn(['annotations', 'artifacthub.io/license'], packageJson.license);
  document.setIn(['annotations', 'artifacthub.io/images'], stringify(images()));
  document.setIn(['annotations', 'artifacthub.io/crds'], stringify(crds()));
  document.setIn(['annotations', 'artifacthub.io/crdsExamples'], stringify([parse(sample)]));
  return document.toString({ lineWidth: 0, singleQuote: true, flowCollectionPadding: false });
}

function images(): object[] {
  const { image, prometheus, nodeExporter } = chartValues.parse({});
  return [
    { name: 'traffic-operator', image: `${image.repository}:${packageJson.version}` },
    { name: 'prometheus', image: prometheus.image },
    { name: 'node-exporter', image: nodeExporter.image },
  ];
}

/** All CRDs of the chart, also those that it has only with a value. */
function crds(): object[] {
  return customResourceDefinitions().map(({ kind: { resource }, crd }) => ({
    ...{ kind: resource.kind, version: resource.version, name: crd.metadata?.name, displayName: resource.kind },
    description: descriptionOf(resource.kind),
  }));
}

/** @throws Error for a kind without one */
function descriptionOf(kind: string): string {
  const description = kind === 'Agent' ? AGENT : KINDS[kind]?.description;
  if (description === undefined) throw new Error(`the kind ${kind} has no description for Artifact Hub`);
  return description;
}
