/** A series that is worked out beforehand, named level:metric:operations as Prometheus' documentation has it. */
export interface RecordingRule {
  readonly record: string;
  /** Why it is worked out this way; becomes a comment. */
  readonly why: string;
  readonly expr: string;
}

/** `critical`: decisions are made on old figures, or not at all. `warning`: something is missing, the rest goes on. */
export type Severity = 'critical' | 'warning';

/** Something that a person should know of. Its paragraph in docs/runbooks.md has the same name. */
export interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  /** How long it has to be so, in Prometheus' notation. */
  readonly for: string;
  readonly severity: Severity;
  /** One line; may use labels as {{ $labels.node }}. */
  readonly summary: string;
  readonly description: string;
}

export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly (RecordingRule | AlertingRule)[];
}

/** Where docs/runbooks.md is read. The fragment is the alert's name in lower case, as headings become anchors. */
export const RUNBOOKS = 'https://traffic.example.com/docs/runbooks.md';

/** The page and paragraph about an alert. */
export function runbookUrl(alert: string): string {
  return `${RUNBOOKS}#${alert.toLowerCase()}`;
}

/** A rule file of Prometheus. */
export function renderRules(comment: string, groups: readonly RuleGroup[]): string {
  const lines = groups.flatMap(({ name, rules }) => [`  - name: ${name}`, '    rules:', ...rules.flatMap(renderRule)]);
  return [
    `# ${comment}`,
    '# Rendered from src/controllers/measurement/components/rules; a change made here does not last.',
  ]
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
    '        annotations:',
    // A JSON string is a YAML string.
    `          summary: ${JSON.stringify(rule.summary)}`,
    `          description: ${JSON.stringify(rule.description)}`,
    `          runbook_url: ${runbookUrl(rule.alert)}`,
  ];
}

/** A block as it stands: nothing in an expression has to be escaped. Its first line tells how far it is indented. */
function renderExpression(expr: string): string[] {
  return ['        expr: |-', ...expr.split('\n').map((line) => `          ${line}`)];
}
