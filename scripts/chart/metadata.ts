import { parse, parseDocument, stringify } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { trafficWatchResource } from '../../src/api/trafficwatch/schema.ts';
import { chartValues } from './values.ts';

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

function crds(): object[] {
  const { group, version, plural, kind } = trafficWatchResource.resource;
  return [
    {
      kind,
      version,
      name: `${plural}.${group}`,
      displayName: 'TrafficWatch',
      description: 'A bandwidth threshold for nodes, and a Deployment whose pods are kept off nodes above it',
    },
  ];
}
