import type { Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import { VariableType, type Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboards } from './all.ts';
import type { Dashboard } from './dashboard.ts';
import { ZERO } from './promql.ts';

/** What Grafana would put in for each variable; `__rate_interval` and `__interval` among them, such as '1m'. */
export type Variables = Readonly<Record<string, string>>;

/** One query of one panel, as Prometheus is asked it. */
export interface PanelQuery {
  /** Where it is, for messages: uid, title of the panel, refId. */
  where: string;
  /** PromQL with all variables filled in. */
  expr: string;
  /** The same without the zero that is shown where there are no series; it then has an answer after the event only. */
  withoutZero: string;
  /** True where it is asked for now only, false where over the time range. */
  instant: boolean;
}

/** The values that a dashboard's variable may have: those of a label of the series that a selector matches. */
export interface VariableQuery {
  where: string;
  /** PromQL selector, filled in. */
  series: string;
  label: string;
}

/**
 * Every query of every dashboard.
 *
 * @throws Error where a query has a variable that is not given
 */
export function panelQueries(variables: Variables): PanelQuery[] {
  return Object.values(dashboards()).flatMap((dashboard) =>
    panelsOf(dashboard).flatMap((panel) =>
      (panel.targets ?? []).map((target) => panelQuery(dashboard, panel, target as PrometheusTarget, variables)),
    ),
  );
}

/** Every query that a variable of a dashboard takes its values from; throws as panelQueries does. */
export function variableQueries(variables: Variables): VariableQuery[] {
  return Object.values(dashboards()).flatMap(({ uid, templating }) =>
    (templating.list ?? []).flatMap(({ name, type, query }) => {
      if (type !== VariableType.Query || typeof query !== 'string') return [];
      const [, series = '', label = ''] = LABEL_VALUES.exec(query) ?? [];
      return [{ where: `${uid} $${name}`, series: substitute(series, variables), label }];
    }),
  );
}

/** The panels of a dashboard but for its rows' headings. */
export function panelsOf(dashboard: Dashboard): Panel[] {
  return (dashboard.panels ?? []).filter((panel): panel is Panel => !('collapsed' in panel));
}

/** What a Prometheus query has in the JSON model. */
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

/** Fills in $name; $1 and the like belong to label_replace, and Grafana leaves them alone. */
function substitute(text: string, variables: Variables): string {
  return text.replaceAll(/\$(?!\d)(\w+)/g, (_all, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`no value for the variable $${name} of ${text}`);
    return value;
  });
}
