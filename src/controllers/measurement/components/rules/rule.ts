import type { AlertingRule } from '../../../../api/alertingRule.ts';

/** A recording rule, named level:metric:operations as Prometheus' documentation recommends. */
export interface RecordingRule {
  readonly record: string;
  /** Explains the expression; becomes a comment. */
  readonly why: string;
  readonly expr: string;
}

interface RuleGroup {
  readonly name: string;
  readonly rules: readonly (RecordingRule | AlertingRule)[];
}

/** The published docs/runbooks.md. The fragment is the alert's name in lower case, like the anchor of its heading. */
export const RUNBOOKS = 'https://traffic.example.com/docs/runbooks.md';

/** The URL of the runbook section of an alert. */
export function runbookUrl(alert: string): string {
  return `${RUNBOOKS}#${alert.toLowerCase()}`;
}

/** A rule file of Prometheus. */
export function renderRules(comment: string, groups: readonly RuleGroup[]): string {
  const lines = groups.flatMap(({ name, rules }) => [`  - name: ${name}`, '    rules:', ...rules.flatMap(renderRule)]);
  return [`# ${comment}`, '# Rendered from src/controllers/measurement/components/rules; do not edit.']
    .concat(lines.length === 0 ? 'groups: []' : ['groups:', ...lines], '')
    .join('\n');
}

function renderRule(rule: RecordingRule | AlertingRule): string[] {
  return 'alert' in rule ? renderAlert(rule) : renderRecording(rule);
}

function renderRecording({ record, why, expr }: RecordingRule): string[] {
  return [...why.split('\n').map((line) => `      # ${line}`), `      - record: ${record}`, ...renderExpression(expr)];
}

function renderAlert(rule: AlertingRule): string[] {
  return [
    `      - alert: ${rule.alert}`,
    ...renderExpression(rule.expr),
    `        for: ${rule.for}`,
    '        labels:',
    `          severity: ${rule.severity}`,
    ...Object.entries(rule.labels ?? {}).map(([name, value]) => `          ${name}: ${value}`),
    '        annotations:',
    // A JSON string is a YAML string.
    `          summary: ${JSON.stringify(rule.summary)}`,
    `          description: ${JSON.stringify(rule.description)}`,
    `          runbook_url: ${runbookUrl(rule.alert)}`,
  ];
}

/** A literal block: nothing in an expression needs escaping. The first line sets the indentation. */
function renderExpression(expr: string): string[] {
  return ['        expr: |-', ...expr.split('\n').map((line) => `          ${line}`)];
}
