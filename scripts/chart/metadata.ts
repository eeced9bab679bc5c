import { parse, parseDocument, stringify } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { trafficWatchResource } from '../../src/api/trafficwatch/schema.ts';
import { chartValues } from './values.ts';

/**
 * Chart.yaml with what other files decide: the versions, and the annotations by which Artifact Hub shows images and
 * CRDs (https://artifacthub.io/docs/topics/annotations/helm/).
 *
 * @param text Chart.yaml as it is; all else in it stays
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
      description:
        'How full the network of a node may be, and a Deployment that is kept off the nodes where it is fuller',
    },
  ];
}
