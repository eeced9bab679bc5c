import { parseSeries, type SeriesVisitor } from '../../prometheus/answer.ts';
import type { SeriesLabels } from './differingLabels.ts';
import type { SeriesCache } from './seriesCache.ts';
import { sampleText } from './sampleText.ts';
import type { SeriesDecoder } from './seriesDecoder.ts';

/**
 * Reads answers with rates, one per pass. If the labels of a series are in the cache, it parses only the number of the
 * sample. Falls back to a full parse for an invalid sample, a duplicate, and the first series, which gives the time.
 *
 * @param cache the series of the previous answer
 */
export function createRatesVisitor(decoder: SeriesDecoder, cache: SeriesCache): SeriesVisitor {
  cache.begin();
  return {
    visit: (series) => decoder.visit(series, { labels: metricOf(series) }),
    visitBytes(bytes, from, to) {
      const labels = cache.recall(bytes, from, to);
      const text = labels && sampleText(bytes, from + labels.length, to);
      if (labels !== undefined && text !== undefined && decoder.visitKnown(labels, text)) return;
      const series = parseSeries(bytes, from, to);
      decoder.visit(series, labels ?? cache.learn(bytes, from, to, metricOf(series)));
    },
  };
}

function metricOf(series: unknown): SeriesLabels {
  return (series as { metric?: SeriesLabels | null } | null)?.metric ?? {};
}
