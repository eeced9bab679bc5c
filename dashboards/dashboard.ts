import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
  type DashboardLink,
  type Panel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE } from './frame.ts';

/**
 * The JSON model of a dashboard, version 1. Grafana 11 and older support only this version, and newer releases still
 * read it from files.
 */
// oxlint-disable-next-line typescript/no-deprecated -- for that reason
export type Dashboard = ReturnType<DashboardBuilder['build']>;

/** Tag of every dashboard. The links between the dashboards use it. */
export const TAG = 'traffic-operator';

/** A heading and the panels below it. */
export interface Row {
  title: string;
  panels: readonly Builder<Panel>[];
}

/** One dashboard. */
export interface DashboardSpec {
  /** Last part of the uid and of the file name. Never change it: links and bookmarks use it. */
  name: string;
  title: string;
  description: string;
  /** In addition to the variables datasource and job. */
  variables: readonly QueryVariableBuilder[];
  rows: readonly Row[];
}

/** The uid of a dashboard, which is also in its URL. */
export function uidOf(name: string): string {
  return `traffic-operator-${name}`;
}

/** Builds the JSON model of a dashboard, with ids and positions of its panels. */
export function buildDashboard({ name, title, description, variables, rows }: DashboardSpec): Dashboard {
  // oxlint-disable-next-line typescript/no-deprecated -- see Dashboard
  const builder = new DashboardBuilder(`Traffic operator / ${title}`)
    .uid(uidOf(name))
    .description(description)
    .tags([TAG])
    .readonly()
    .refresh('30s')
    .time({ from: 'now-1h', to: 'now' })
    .tooltip(DashboardCursorSync.Crosshair)
    .link(toTheOthers())
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(jobVariable());
  for (const variable of variables) builder.withVariable(variable);
  for (const row of rows) {
    builder.withRow(new RowBuilder(row.title));
    for (const panel of row.panels) builder.withPanel(panel);
  }
  return finished(builder.build());
}

/** A variable with the values of a label. */
export function labelVariable(name: string, label: string, series: string, description: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .description(description)
    .datasource(DATASOURCE)
    .query(`label_values(${series}, ${name})`)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc);
}

/** Lets a variable have several values; the default is all. */
export function severalOrAll(variable: QueryVariableBuilder): QueryVariableBuilder {
  return variable.multi(true).includeAll(true).current({ text: 'All', value: '$__all' });
}

function jobVariable(): QueryVariableBuilder {
  const description = "The job that scrapes the operator's own metrics.";
  return severalOrAll(labelVariable('job', 'Job', 'traffic_operator_api_requests_total', description));
}

function toTheOthers(): DashboardLinkBuilder {
  return new DashboardLinkBuilder('Traffic operator')
    .type(DashboardLinkType.Dashboards)
    .tags([TAG])
    .includeVars(true)
    .keepTime(true);
}

/** Adds what the builder does not: ids, which start at 1 in Grafana, and links above the panels, not in a menu. */
function finished(dashboard: Dashboard): Dashboard {
  const panels = (dashboard.panels ?? []).map((panel, index) => ({ ...panel, id: index + 1 }));
  const links = (dashboard.links ?? []).map((link) => {
    const shown: Partial<DashboardLink> = { ...link };
    delete shown.placement;
    return shown as DashboardLink;
  });
  return { ...dashboard, panels, links };
}
