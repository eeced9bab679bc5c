import { expect, it } from 'vitest';
import { IN_PROGRESS_REASONS, WeightReason } from './reasons.ts';
import { UNALERTED_HOSTS, weightAlerts } from './alerts.ts';

/** Reasons that need no alert, and why. */
const WITHOUT_ALERT: Readonly<Record<string, readonly string[]>> = {
  'of a condition that is True': [
    'InForce',
    'WeightRead',
    'DesiredWeightReached',
    'WeightAcknowledged',
    'AllApplied',
    'AllObserved',
    'AllPublished',
    'AllZonesRead',
    'AllAccepted',
  ],
  'the object is being deleted': ['Terminating'],
  'the zone is being read for the first time': ['ZonesNotReadYet'],
  'a new cluster has no host yet': ['NoRecords'],
  'TrafficWeightGateWithoutData selects it by the phase Waiting': ['GateWithoutData'],
  'the weight is not in force, which TrafficWeightNotInForce sees by the weights': ['NotObserved'],
  'TrafficWeightRemovalNotConfirmed selects it by the hosts that wait': ['RemovalNotConfirmed'],
  'the objects have no record with another weight: else WriteFailed comes first': ['NamespaceTooLarge'],
  'the host has no record, and its source has an Event': UNALERTED_HOSTS,
};

it('each reason of a TrafficWeight that is not in progress has an alert, or needs none', () => {
  const { rules } = weightAlerts((metric, matchers = '') => `${metric}{${matchers}}`);
  const exprs = rules.map((rule) => ('alert' in rule ? rule.expr : '')).join('\n');
  const selected = new Set(
    [...exprs.matchAll(/(?:reason|phase)=~?"([^"]*)"/g)].flatMap(([, text = '']) => text.split('|')),
  );
  const silent = Object.values(WeightReason).filter(
    (reason) => !selected.has(reason) && !IN_PROGRESS_REASONS.has(reason),
  );
  expect(silent.sort()).toEqual(Object.values(WITHOUT_ALERT).flat().sort());
});
