import type { Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import { VariableType, type Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboards } from './all.ts';
import type { Dashboard } from './dashboard.ts';
import { ZERO } from './promql.ts';

/** The value of each variable, including `__rate_interval` and `__interval`, such as '1m'. */
export type Variables = Readonly<Record<string, string>>;

/** One query of one panel, as sent to Prometheus. */
export interface PanelQuery {
  /** Location for messages: uid, panel title, refId. */
  where: string;
  /** PromQL with all variables replaced. */
  expr: string;
  /** The same without the zero of `orZero`: it has a result only after the event happened. */
  withoutZero: string;
  /** True for an instant query, false for a range query. */
  instant: boolean;
}

/** The values of a dashboard variable: those of a label of the matching series. */
export interface VariableQuery {
  where: string;
  /** PromQL selector with all variables replaced. */
  series: string;
  label: string;
}

/**
 * Every query of every dashboard.
 *
 * @throws Error if a query has a variable without a value
 */
export function panelQueries(variables: Variables): PanelQuery[] {
  return Object.values(dashboards()).flatMap((dashboard) =>
    panelsOf(dashboard).flatMap((panel) =>
      (panel.targets ?? []).map((target) => panelQuery(dashboard, panel, target as PrometheusTarget, variables)),
    ),
  );
}

/** The queries that provide the values of dashboard variables; throws like panelQueries. */
export function variableQueries(variables: Variables): VariableQuery[] {
  return Object.values(dashboards()).flatMap(({ uid, templating }) =>
    (templating.list ?? []).flatMap(({ name, type, query }) => {
      if (type !== VariableType.Query || typeof query !== 'string') return [];
      const [, series = '', label = ''] = LABEL_VALUES.exec(query) ?? [];
      return [{ where: `${uid} $${name}`, series: substitute(series, variables), label }];
    }),
  );
}

/** The panels of a dashboard, without the row headings. */
export function panelsOf(dashboard: Dashboard): Panel[] {
  return (dashboard.panels ?? []).filter((panel): panel is Panel => !('collapsed' in panel));
}

/** A Prometheus query in the JSON model. */
export type PrometheusTarget = Dataquery & {
  refId: string;
  expr: string;
  instant?: boolean;
  datasource?: { type?: string; uid?: string };
};

const LABEL_VALUES = /^label_values\((.*), ?(\w+)\)$/;

function panelQuery({ uid }: Dashboard, { title }: Panel, target: PrometheusTarget, variables: Variables): PanelQuery {
  return {
    where: `${uid} / ${title} / ${target.refId}`,
    expr: substitute(target.expr, variables),
    withoutZero: substitute(target.expr.replaceAll(ZERO, ''), variables),
    instant: target.instant === true,
  };
}

/** Replaces $name, but not $1 and the like, which belong to label_replace and which Grafana does not replace either. */
function substitute(text: string, variables: Variables): string {
  return text.replaceAll(/\$(?!\d)(\w+)/g, (_all, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`no value for the variable $${name} of ${text}`);
    return value;
  });
}
