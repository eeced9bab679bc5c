import { parseSeries, type SeriesVisitor } from '../../prometheus/answer.ts';
import type { KnownSeries } from './seriesCache.ts';
import { sampleText } from './sampleText.ts';
import type { Readings } from './seriesDecoder.ts';

/**
 * Reads answers with rates, of which there is one a pass: of a series whose labels are known only the number is looked
 * at, unless there is more to say of it.
 *
 * @param known the series of the answer before
 */
export function createRatesVisitor(readings: Readings, known: KnownSeries): SeriesVisitor {
  known.begin();
  return {
    visit: (series) => readings.visit(series),
    visitBytes(bytes, from, to) {
      const labels = known.recall(bytes, from, to);
      const text = labels && sampleText(bytes, from + labels.length, to);
      if (labels !== undefined && text !== undefined && readings.visitKnown(labels, text)) return;
      const series = parseSeries(bytes, from, to);
      if (labels === undefined) known.learn(bytes, from, to, metricOf(series));
      readings.visit(series);
    },
  };
}

function metricOf(series: unknown): Readonly<Record<string, unknown>> {
  return (series as { metric?: Readonly<Record<string, unknown>> | null } | null)?.metric ?? {};
}
