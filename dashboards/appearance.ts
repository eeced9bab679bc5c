import { MappingType, SpecialValueMatch, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import type { ComponentState } from '../src/api/trafficstack/terms.ts';
import { uidOf } from './dashboard.ts';
import type { Steps } from './frame.ts';

/** The look that panels share: colours with one meaning, texts for values, links. */

/** Colours of bandwidth use. Rough values: each TrafficWatch has its own threshold. */
export const RATIO_STEPS: Steps = [
  [null, 'green'],
  [0.5, 'yellow'],
  [0.8, 'red'],
];

/** Colours of lost datagrams. From 10 % on, a pair is Degraded by default. */
export const LOSS_STEPS: Steps = [
  [null, 'green'],
  [0.01, 'yellow'],
  [0.1, 'orange'],
  [0.5, 'red'],
];

/** For counts that should be 0. */
export const NONE_EXPECTED: Steps = [
  [null, 'green'],
  [1, 'orange'],
];

/** For a number that is neither good nor bad. */
export const PLAIN: Steps = [[null, 'blue']];

/** Texts for the values of the verdict series: 1 is unfit, NaN is unknown. */
export const VERDICT: ValueMapping[] = [
  values({ 1: ['unfit', 'red'] }),
  {
    type: MappingType.SpecialValue,
    options: { match: SpecialValueMatch.NullAndNan, result: { text: 'unknown', color: 'orange' } },
  },
];

export const READY: ValueMapping[] = [values({ 0: ['not ready', 'red'], 1: ['ready', 'green'] })];

export const LEADS: ValueMapping[] = [values({ 0: ['standby', 'blue'], 1: ['leader', 'green'] })];

const STATE_COLORS: Readonly<Record<ComponentState, string>> = {
  Waiting: 'purple',
  Progressing: 'blue',
  Ready: 'green',
  Degraded: 'orange',
  Failed: 'red',
  Unknown: 'orange',
  Removing: 'blue',
};

/** Colours of the states of a component, which are texts already. */
export const COMPONENT_STATE: ValueMapping[] = [
  values(Object.fromEntries(Object.entries(STATE_COLORS).map(([state, color]) => [state, [state, color] as const]))),
];

/** @param words by value */
function values(words: Readonly<Record<string, readonly [text: string, color: string]>>): ValueMapping {
  const options = Object.entries(words).map(
    ([value, [text, color]], index) => [value, { text, color, index }] as const,
  );
  return { type: MappingType.ValueToText, options: Object.fromEntries(options) };
}

/** Link from a row with the labels namespace and trafficwatch to the dashboard of that TrafficWatch. */
export const TO_TRAFFICWATCH = {
  title: 'This TrafficWatch',
  url:
    `/d/${uidOf('trafficwatch')}?\${datasource:queryparam}&\${job:queryparam}&\${__url_time_range}` +
    '&var-namespace=${__data.fields.namespace}&var-trafficwatch=${__data.fields.trafficwatch}',
};

/** Link from a series of a node to the dashboard Nodes with only that node. */
export const TO_NODE = {
  title: 'This node',
  url:
    `/d/${uidOf('nodes')}?\${datasource:queryparam}&\${job:queryparam}&\${__url_time_range}` +
    '&var-node=${__field.labels.node}',
};
