import { MappingType, SpecialValueMatch, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { uidOf } from './dashboard.ts';
import type { Steps } from './frame.ts';

/** What several panels look like: colours that say the same everywhere, words for values, links. */

/** A share of a node's capacity. Where it is too much is for each TrafficWatch to say; this is only a feeling. */
export const RATIO_STEPS: Steps = [
  [null, 'green'],
  [0.5, 'yellow'],
  [0.8, 'red'],
];

/** For what should be 0: one is worth a look. */
export const NONE_EXPECTED: Steps = [
  [null, 'green'],
  [1, 'orange'],
];

/** For a number that is neither good nor bad. */
export const PLAIN: Steps = [[null, 'blue']];

/** The verdict series: 1 and NaN. */
export const VERDICT: ValueMapping[] = [
  values({ 1: ['unfit', 'red'] }),
  {
    type: MappingType.SpecialValue,
    options: { match: SpecialValueMatch.NullAndNan, result: { text: 'unknown', color: 'orange' } },
  },
];

export const READY: ValueMapping[] = [values({ 0: ['not ready', 'red'], 1: ['ready', 'green'] })];

export const LEADS: ValueMapping[] = [values({ 0: ['stands by', 'blue'], 1: ['leads', 'green'] })];

function values(words: Readonly<Record<number, readonly [text: string, color: string]>>): ValueMapping {
  const options = Object.entries(words).map(
    ([value, [text, color]], index) => [value, { text, color, index }] as const,
  );
  return { type: MappingType.ValueToText, options: Object.fromEntries(options) };
}

/** From a row with both labels to the dashboard of that TrafficWatch. */
export const TO_TRAFFICWATCH = {
  title: 'This TrafficWatch',
  url:
    `/d/${uidOf('trafficwatch')}?\${datasource:queryparam}&\${job:queryparam}&\${__url_time_range}` +
    '&var-namespace=${__data.fields.namespace}&var-trafficwatch=${__data.fields.trafficwatch}',
};

/** From a series of a node to that node alone. */
export const TO_NODE = {
  title: 'This node',
  url:
    `/d/${uidOf('nodes')}?\${datasource:queryparam}&\${job:queryparam}&\${__url_time_range}` +
    '&var-node=${__field.labels.node}',
};
