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

/** The data source that the first variable of the dashboard selects. */
export const DATASOURCE: DataSourceRef = { type: 'prometheus', uid: '${datasource}' };

/** The lowest value of each colour, in ascending order; `null` is minus infinity. */
export type Steps = readonly (readonly [from: number | null, color: string])[];

/** Options of every kind of panel. */
export interface PanelSpec {
  title: string;
  /** For a first-time reader: what the panel shows, and what a bad value means. */
  description: string;
  queries: readonly Query[];
  /** Grafana's name: percentunit, Bps, s, bytes, short. */
  unit?: string;
  decimals?: number;
  steps?: Steps;
  mappings?: ValueMapping[];
  /** Link of a value: title and URL within Grafana. */
  link?: { title: string; url: string };
  /** Columns, of 24. */
  width?: number;
  height?: number;
}

/** One query of a panel. */
export interface Query {
  expr: string;
  /** Template of the series name, such as {{node}}. */
  legend?: string;
}

/** What the builders of all kinds of panels share. */
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

/** How the queries of a panel run: over the time range, or once for the current time. */
interface Asked {
  instant?: boolean;
  asTable?: boolean;
  /** Whether values over time have the colours of the thresholds, too. */
  byThreshold?: boolean;
}

/** Sets what every panel has. */
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

/** Current values are coloured by thresholds; lines have different colours. */
function colorMode({ mappings }: PanelSpec, { instant = false, byThreshold = false }: Asked): FieldColorModeId {
  return instant || byThreshold || mappings ? FieldColorModeId.Thresholds : FieldColorModeId.PaletteClassic;
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
