import { MATCH_CONDITIONS, patchExpression, VARIABLES, type NamedExpression } from '../../src/placement/policy.ts';
import type { GeneratedFile } from './file.ts';

const HEADER = '{{/* Generated from src/placement/policy.ts by `make generate`. Do not edit. */}}';

/** The expressions of the placement policy as a named template of the chart. */
export function placement(): GeneratedFile[] {
  const patch = patchExpression((path, value) => `JSONPatch{op: 'add', path: ${path}, value: ${value}}`);
  const content = [
    HEADER,
    '{{- define "traffic-operator.placementTerms" -}}',
    'matchConditions:',
    ...MATCH_CONDITIONS.map(item),
    'variables:',
    ...VARIABLES.map(item),
    'mutations:',
    '  - patchType: JSONPatch',
    '    jsonPatch:',
    `      expression: ${quoted(patch)}`,
    '{{- end -}}',
  ].join('\n');
  return [{ path: 'charts/traffic-operator/templates/_placementTerms.tpl', content: `${content}\n` }];
}

function item({ name, expression }: NamedExpression): string {
  return `  - name: ${name}\n    expression: ${quoted(expression)}`;
}

function quoted(expression: string): string {
  if (expression.includes('{{')) throw new Error(`${expression} has {{ in it, which helm would take for its own`);
  return JSON.stringify(expression);
}
