import * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  BarGaugeDisplayMode,
  BigValueColorMode,
  BigValueGraphMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TableCellDisplayMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as statushistory from '@grafana/grafana-foundation-sdk/statushistory';
import * as table from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import type { Panel, ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { framed, type PanelSpec, type Steps } from './frame.ts';

/** The kinds of panels, each with one look. */

const newest = (): ReduceDataOptionsBuilder => new ReduceDataOptionsBuilder().calcs(['lastNotNull']);

/** One current number. */
export function statPanel(spec: PanelSpec): Builder<Panel> {
  const panel = new stat.PanelBuilder()
    .graphMode(BigValueGraphMode.None)
    .colorMode(BigValueColorMode.Value)
    .reduceOptions(newest());
  return framed(panel, { width: 4, height: 4, ...spec }, { instant: true });
}

/** Lines over time; `stacked` if they are parts of a whole. */
export function linesPanel(spec: PanelSpec & { stacked?: boolean }): Builder<Panel> {
  const panel = new timeseries.PanelBuilder()
    .min(0)
    .lineWidth(1)
    .fillOpacity(spec.stacked === true ? 30 : 10)
    .showPoints(VisibilityMode.Never)
    .legend(legend().calcs(['lastNotNull', 'max']))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending));
  if (spec.stacked === true) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
  return framed(panel, { width: 12, height: 8, ...spec });
}

function legend(): VizLegendOptionsBuilder {
  return new VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(LegendDisplayMode.Table)
    .placement(LegendPlacement.Bottom);
}

/** A bar with the current value of each series. */
export function barsPanel(spec: PanelSpec): Builder<Panel> {
  const panel = new bargauge.PanelBuilder()
    .min(0)
    .displayMode(BarGaugeDisplayMode.Basic)
    .orientation(VizOrientation.Horizontal)
    .reduceOptions(newest());
  return framed(panel, { width: 8, height: 9, ...spec }, { instant: true });
}

/** The state of each series over time; the states are the mapped values. */
export function statesPanel(spec: PanelSpec): Builder<Panel> {
  const panel = new statetimeline.PanelBuilder()
    .showValue(VisibilityMode.Never)
    .legend(new VizLegendOptionsBuilder().showLegend(true).placement(LegendPlacement.Bottom));
  return framed(panel, { width: 12, height: 8, ...spec });
}

/** Points of a heat map over the time range. Grafana draws none if the cells are too narrow. */
const HEAT_MAP_POINTS = 60;

/** A row for each series, a cell for each time, with the colours of the steps. */
export function heatMapPanel(spec: PanelSpec & { steps: Steps }): Builder<Panel> {
  const panel = new statushistory.PanelBuilder()
    .maxDataPoints(HEAT_MAP_POINTS)
    .showValue(VisibilityMode.Never)
    .legend(new VizLegendOptionsBuilder().showLegend(true).placement(LegendPlacement.Bottom));
  return framed(panel, { width: 12, height: 8, ...spec }, { byThreshold: true });
}

/** Options of a table. */
export interface TableSpec extends Omit<PanelSpec, 'mappings'> {
  /** Title of each column, by label, or by refId for the value of a query. Other labels are hidden. Keeps the order. */
  columns: Readonly<Record<string, string>>;
  /** The label that joins the rows of several queries. */
  by: string;
  /** Unit, by column title. */
  units?: Readonly<Record<string, string>>;
  /** Texts and colours of values, by column title. */
  words?: Readonly<Record<string, ValueMapping[]>>;
}

/** A row for each value of a label, a column for each query, with current values. */
export function tablePanel(spec: TableSpec): Builder<Panel> {
  const { columns, by, units = {}, words = {} } = spec;
  const single = spec.queries.length === 1;
  const field = (key: string): string => (/^[A-Z]$/.test(key) ? (single ? 'Value' : `Value #${key}`) : key);
  const names = Object.entries(columns).map(([key, title]) => [field(key), title] as const);
  const panel = new table.PanelBuilder();
  if (!single) panel.withTransformation({ id: 'joinByField', options: { byField: by, mode: 'outer' } });
  panel.withTransformation({ id: 'filterFieldsByName', options: { include: { names: names.map(([name]) => name) } } });
  panel.withTransformation({
    id: 'organize',
    options: {
      excludeByName: {},
      indexByName: Object.fromEntries(names.map(([name], index) => [name, index])),
      renameByName: Object.fromEntries(names),
    },
  });
  for (const [title, unit] of Object.entries(units)) panel.overrideByName(title, [{ id: 'unit', value: unit }]);
  for (const [title, mappings] of Object.entries(words)) {
    panel.overrideByName(title, [
      { id: 'mappings', value: mappings },
      { id: 'custom.cellOptions', value: { type: TableCellDisplayMode.ColorText } },
    ]);
  }
  return framed(panel, { width: 12, height: 9, ...spec }, { instant: true, asTable: true });
}
