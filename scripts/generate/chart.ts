import { readFileSync } from 'node:fs';
import { ruleGroups } from '../../src/controllers/measurement/components/rules/prometheusRule.ts';
import { renderChart } from '../chart/metadata.ts';
import { renderValues, renderValuesSchema, renderValuesTable } from '../chart/render.ts';
import { chartValues } from '../chart/values.ts';
import { manifest } from './crds.ts';
import type { GeneratedFile } from './file.ts';

const CHART = 'charts/traffic-operator';
const SAMPLE = 'deploy/samples/trafficwatch.yaml';
const HEADER = ` Default values of the chart.
 Generated from scripts/chart/values.ts by \`make generate\`. Do not edit.`;
const RULES_HEADER = '# Generated from src/controllers/measurement by `make generate`. Do not edit.\n';

/** The chart values in three forms: for helm, for editors and for readers. */
export function chart(): GeneratedFile[] {
  return [
    { path: `${CHART}/values.yaml`, content: renderValues(chartValues, HEADER) },
    { path: `${CHART}/values.schema.json`, content: renderValuesSchema(chartValues) },
    { path: `${CHART}/Chart.yaml`, content: renderChart(read(`${CHART}/Chart.yaml`), read(SAMPLE)) },
    { path: `${CHART}/files/rules.yml`, content: rules() },
    { path: `${CHART}/README.md`, content: withTable(`${CHART}/README.md`, 'values', renderValuesTable(chartValues)) },
  ];
}

/** All rule groups as the spec of a PrometheusRule. helm reads it as text, so that its templates stay unrendered. */
function rules(): string {
  const groups = ruleGroups();
  if (groups.length === 0) throw new Error('there are no rules for the PrometheusRule');
  return RULES_HEADER + manifest({ groups });
}

/** Replaces the text between `<!-- name -->` and `<!-- /name -->` of a file. Throws if the marks are missing. */
function withTable(path: string, name: string, table: string): string {
  const text = read(path);
  const marks = new RegExp(`(<!-- ${name} -->\n)[^]*?(\n<!-- /${name} -->)`);
  if (!marks.test(text)) throw new Error(`${path} has no place for the table of ${name}`);
  return text.replace(marks, (_all, before: string, after: string) => before + table + after);
}

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}
