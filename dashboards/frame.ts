import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import type { DataSourceRef } from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardLinkBuilder,
  DashboardLinkType,
  FieldColorBuilder,
  FieldColorModeId,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type DashboardLink,
  type FieldColor,
  type Panel,
  type ThresholdsConfig,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';

/** The Prometheus that the dashboard's first variable names: no dashboard knows a datasource of its own. */
export const DATASOURCE: DataSourceRef = { type: 'prometheus', uid: '${datasource}' };

/** From which value on a colour holds, in rising order; `null` is the beginning. */
export type Steps = readonly (readonly [from: number | null, color: string])[];

/** What a panel of any kind says of itself. */
export interface PanelSpec {
  title: string;
  /** For a person who sees it for the first time: what it is, and what a bad value means. */
  description: string;
  queries: readonly Query[];
  /** As Grafana calls it: percentunit, Bps, s, bytes, short. */
  unit?: string;
  decimals?: number;
  steps?: Steps;
  mappings?: ValueMapping[];
  /** Where a click on a value leads: title and URL within Grafana. */
  link?: { title: string; url: string };
  /** Columns of 24. */
  width?: number;
  height?: number;
}

/** One question of a panel. */
export interface Query {
  expr: string;
  /** Name of the series, such as {{node}}; Grafana fills it in. */
  legend?: string;
}

/** What the builders of all kinds of panels have in common. */
interface PanelBuilder extends Builder<Panel> {
  title(title: string): this;
  description(description: string): this;
  datasource(datasource: DataSourceRef): this;
  withTarget(target: Builder<Dataquery>): this;
  unit(unit: string): this;
  decimals(decimals: number): this;
  noValue(text: string): this;
  mappings(mappings: ValueMapping[]): this;
  thresholds(thresholds: Builder<ThresholdsConfig>): this;
  colorScheme(color: Builder<FieldColor>): this;
  dataLinks(links: Builder<DashboardLink>[]): this;
  span(width: number): this;
  height(height: number): this;
}

/** How the queries of a panel are asked: over the time range, or once, for now. */
interface Asked {
  instant?: boolean;
  asTable?: boolean;
}

/** Fills in what every panel has. */
export function framed<B extends PanelBuilder>(panel: B, spec: PanelSpec, asked: Asked = {}): B {
  panel.title(spec.title).description(spec.description).datasource(DATASOURCE).noValue('–');
  panel.unit(spec.unit ?? 'short');
  spec.queries.forEach((query, index) => panel.withTarget(target(query, index, asked)));
  if (spec.decimals !== undefined) panel.decimals(spec.decimals);
  if (spec.mappings) panel.mappings(spec.mappings);
  if (spec.steps) panel.thresholds(thresholds(spec.steps));
  panel.colorScheme(new FieldColorBuilder().mode(colorMode(spec, asked)));
  if (spec.link) panel.dataLinks([dataLink(spec.link)]);
  return panel.span(spec.width ?? 12).height(spec.height ?? 8);
}

/** What is now is coloured by how bad it is, lines are told from one another. */
function colorMode({ mappings }: PanelSpec, { instant = false }: Asked): FieldColorModeId {
  return instant || mappings ? FieldColorModeId.Thresholds : FieldColorModeId.PaletteClassic;
}

function target({ expr, legend }: Query, index: number, { instant = false, asTable = false }: Asked): DataqueryBuilder {
  const query = new DataqueryBuilder()
    .datasource(DATASOURCE)
    .expr(expr)
    .refId(String.fromCharCode(65 + index));
  if (legend !== undefined) query.legendFormat(legend);
  if (asTable) query.format(PromQueryFormat.Table);
  return instant ? query.instant() : query.range();
}

function thresholds(steps: Steps): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps(steps.map(([value, color]) => ({ value, color })));
}

function dataLink({ title, url }: { title: string; url: string }): DashboardLinkBuilder {
  return new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(url);
}
