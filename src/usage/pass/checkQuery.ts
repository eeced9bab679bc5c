import { PrometheusError } from '../../prometheus/prometheusError.ts';
import { wholeName } from '../evaluate/devices/devices.ts';
import { IDENTIFYING_LABELS } from '../evaluate/duplicateSeries.ts';
import { LABEL_NAME } from './promql.ts';
import type { UsageQuery } from './queries.ts';

const LABEL_RULE = 'it must have letters, digits and _ only, and must not begin with a digit';

/**
 * Validates the settings of a query. Throws PrometheusError BadConfiguration with the field, its value and what is
 * allowed.
 */
export function checkQuery({ windowSeconds, matchers, replicaLabels = [], excludedDevices }: UsageQuery): void {
  const wrong = (problem: string): never => {
    throw new PrometheusError('BadConfiguration', problem);
  };
  if (!Number.isSafeInteger(windowSeconds) || windowSeconds < 1) {
    wrong(`the rate window is ${windowSeconds} s: it must be a whole number of seconds, at least 1`);
  }
  for (const { name } of matchers) {
    if (name === '') wrong('the label name of a matcher is empty: it must have at least one character');
  }
  for (const name of replicaLabels) {
    if (!LABEL_NAME.test(name)) wrong(`a replica label is ${JSON.stringify(name)}: ${LABEL_RULE}`);
    if (IDENTIFYING_LABELS.includes(name)) {
      wrong(`a replica label is ${JSON.stringify(name)}: it must not be one of ${IDENTIFYING_LABELS.join(', ')}`);
    }
  }
  try {
    wholeName(excludedDevices ?? '');
  } catch {
    wrong(`the pattern of excluded devices is ${JSON.stringify(excludedDevices)}: it must be a regular expression`);
  }
}
