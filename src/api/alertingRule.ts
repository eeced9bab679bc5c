/**
 * `critical`: decisions stop or use old data, or the network of many nodes is at fault. `warning`: something is missing,
 * the rest works.
 */
export type Severity = 'critical' | 'warning';

/** An alerting rule. Its section in docs/runbooks.md has the same name. */
export interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  /** How long the expression must hold, in Prometheus' notation. */
  readonly for: string;
  readonly severity: Severity;
  /** Labels besides the severity. */
  readonly labels?: Readonly<Record<string, string>>;
  /** One line; may contain labels, such as {{ $labels.node }}. */
  readonly summary: string;
  readonly description: string;
}

/** The alerts of one wing. The measurement controller renders them for the deployed Prometheus, and for a PrometheusRule. */
export interface AlertGroup {
  readonly name: string;
  readonly rules: readonly AlertingRule[];
}

/** Returns the leader's series of a metric: the view of a standby may differ for a moment. */
export type OfLeader = (metric: string, matchers?: string) => string;
