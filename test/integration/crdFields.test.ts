import { describe, expect, it } from 'vitest';
import { parseTrafficWatchSpec } from '../../src/api/trafficwatch/schema.ts';
import { deploymentSpec, trafficWatch, useCrdPlane } from './crdPlane.ts';

/** Tests the fields of the spec that a real API server refuses, and that it says why. */
const { dryRun } = useCrdPlane();

const THRESHOLD_MESSAGE = 'must be a finite number of at least 0, decimal or with an exponent';
const LABEL_MESSAGE = 'must be empty or the start of a DNS name';
const DURATION_MESSAGE = 'must be a duration from "1s" to "24h"';

const target = (over: object) => ({
  deployment: undefined,
  targetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', ...over },
});
const TARGET = target({});
const pods = (requirement: object) => ({ deployment: undefined, podSelector: { matchExpressions: [requirement] } });

/** [why, spec, part of the message]; the CRD and the operator's own parser must agree. */
type SpecRow = [why: string, spec: object, message?: string, name?: string];
const SPECS: readonly SpecRow[] = [
  ...['0', '100', '12.5', '1.5e-03', '1E2', '.5', '5.', '+7', '250', '1e99', '1e+006'].map(
    (maxBandwidthPercent): SpecRow => [`threshold "${maxBandwidthPercent}"`, { maxBandwidthPercent }],
  ),
  ...['-1', 'NaN', 'Inf', '+Inf', '1e999', 'abc', '', ' 1', '1\n', '1,5', '0x1', '1e', '.'].map(
    (maxBandwidthPercent): SpecRow => [
      `threshold ${JSON.stringify(maxBandwidthPercent)}`,
      { maxBandwidthPercent },
      THRESHOLD_MESSAGE,
    ],
  ),
  ['a threshold of 33 digits', { maxBandwidthPercent: '1'.repeat(33) }, '32'],
  ['a number for a threshold', { maxBandwidthPercent: 60 }, 'string'],
  ['no threshold', { maxBandwidthPercent: undefined }, 'spec.maxBandwidthPercent'],
  ...['', 'web', 'web.example', '0', 'a-b', 'a'.repeat(233)].map((label): SpecRow => [`label "${label}"`, { label }]),
  ...['Web', 'a_b', '-a', 'a-', 'a..b', '.a', 'a/b', 'a b'].map((label): SpecRow => [
    `label "${label}"`,
    { label },
    LABEL_MESSAGE,
  ]),
  ['a label that is too long', { label: 'a'.repeat(234) }, '233'],
  ['the longest name', {}, undefined, 'n'.repeat(253)],
  ...['recoverBandwidthPercent', 'maxBandwidthPercent'].map((field): SpecRow => [
    `text for ${field}`,
    { [field]: 'half' },
    THRESHOLD_MESSAGE,
  ]),
  ['a second threshold above the first', { recoverBandwidthPercent: '61' }, 'must be at most maxBandwidthPercent'],
  ['both thresholds equal', { recoverBandwidthPercent: '6e1' }],
  ...['unfit', 'fit'].flatMap((side): SpecRow[] => [
    [`0 passes, ${side}`, { passes: { [side]: 0 } }, `spec.passes.${side}`],
    [`30 passes, ${side}`, { passes: { [side]: 30 } }],
    [`31 passes, ${side}`, { passes: { [side]: 31 } }, `spec.passes.${side}`],
  ]),
  ...['minHold', 'breakerCooldown'].flatMap((field): SpecRow[] => [
    [`${field} of a day`, { [field]: '24h', maxUnfit: 1 }],
    [`${field} of half a second`, { [field]: '500ms', maxUnfit: 1 }, DURATION_MESSAGE],
    [`${field} of more than a day`, { [field]: '1441m', maxUnfit: 1 }, DURATION_MESSAGE],
    [`${field} without a unit`, { [field]: '60', maxUnfit: 1 }, DURATION_MESSAGE],
  ]),
  ['a cooldown without a breaker', { breakerCooldown: '5m' }, 'applies only with maxUnfit or minFit'],
  ['a cooldown with minFit', { breakerCooldown: '5m', minFit: '50%' }],
  ...['maxUnfit', 'minFit'].flatMap((field): SpecRow[] => [
    ...[1, '3', '1%', '100%', 99999].map((count): SpecRow => [`${field} ${count}`, { [field]: count }]),
    ...[0, '0', '0%', '101%', '1.5', '-1', 'all', 100_000].map((count): SpecRow => [
      `${field} ${count}`,
      { [field]: count },
      'must be a number of nodes of at least 1',
    ]),
  ]),
  [
    'holdFor with Hold',
    { missingData: { policy: 'Hold', holdFor: '5m' } },
    'applies only with the policy Unfit or Fit',
  ],
  ['holdFor without a policy', { missingData: { holdFor: '5m' } }, 'applies only with the policy Unfit or Fit'],
  ['holdFor with Fit', { missingData: { policy: 'Fit', holdFor: '5m' } }],
  ['holdFor of two days', { missingData: { policy: 'Fit', holdFor: '48h' } }, DURATION_MESSAGE],
  ...(
    [
      ['mode', ['Enforce', 'Observe']],
      ['direction', ['Transmit', 'Receive', 'Max', 'Sum']],
      ['measure', ['Sum', 'Fullest']],
      ['placement', ['Required', 'Preferred']],
    ] as const
  ).flatMap(([field, values]): SpecRow[] => [
    ...values.map((value): SpecRow => [`${field} ${value}`, { [field]: value }]),
    [`a misspelt ${field}`, { [field]: values[0].toLowerCase() }, `"${values[0]}"`],
  ]),
  ['a misspelt policy', { missingData: { policy: 'hold' } }, '"Hold"'],
  ['AtCreation with a deployment', { placement: 'AtCreation' }, 'must be Required or Preferred with deployment'],
  ['AtCreation with a target', { ...TARGET, placement: 'AtCreation' }],
  ['a DaemonSet', target({ kind: 'DaemonSet' })],
  ['a DaemonSet with Preferred', { ...target({ kind: 'DaemonSet' }), placement: 'Preferred' }],
  ...['Required', 'AtCreation'].map((placement): SpecRow => [
    `a DaemonSet with ${placement}`,
    { ...target({ kind: 'DaemonSet' }), placement },
    'must be Preferred for a DaemonSet',
  ]),
  ['a path for an API version', target({ apiVersion: 'apps/v1/x' }), 'must be an API group and version'],
  ['a plural for a kind', target({ kind: 'statefulsets' }), 'must be a kind'],
  ['a path for a name', target({ name: '../x' }), 'must be the name of a workload'],
  ...nodeSelectors(),
  ...capacities(),
  ['a pattern that is too long', { devices: { include: 'x'.repeat(257) } }, '256'],
  ['passes that are no integer', { passes: { unfit: 1.5 } }, 'spec.passes.unfit'],
  ['holdFor of many parts', { missingData: { policy: 'Fit', holdFor: '99999h99999h' } }, DURATION_MESSAGE],
  ['no workload', { deployment: undefined }, 'exactly one of deployment, targetRef and podSelector must be set'],
  ['a target', TARGET],
  ['pods', { deployment: undefined, podSelector: { matchLabels: { app: 'web' } } }],
  ['pods by an expression without values', pods({ key: 'app', operator: 'In' }), 'must have at least one value'],
  [
    'pods by an expression with values for Exists',
    pods({ key: 'app', operator: 'Exists', values: ['web'] }),
    'must be empty: the operator is Exists or DoesNotExist',
  ],
  ['pods by an unknown operator', pods({ key: 'app', operator: 'Gt', values: ['1'] }), '"In"'],
  ['pods by no label key', pods({ key: 'a b', operator: 'Exists' }), 'must be a label key'],
  ['two workloads', { podSelector: {} }, 'exactly one of deployment, targetRef and podSelector must be set'],
  ['a deployment without a template', { deployment: { selector: {} } }, 'spec.deployment'],
  ['a deployment without a selector', { deployment: { template: {} } }, 'spec.deployment'],
  ['a pod without containers', { deployment: deploymentSpec({}) }, 'spec.deployment'],
];

function nodeSelectors(): SpecRow[] {
  const expression = (requirement: object) => ({ matchExpressions: [requirement] });
  const own = 'web.traffic.example.com/unfit';
  const rows: [selector: object, message: string][] = [
    [expression({ key: 'zone', operator: 'In' }), 'must have at least one value'],
    [expression({ key: 'zone', operator: 'Exists', values: ['a'] }), 'must be empty'],
    [expression({ key: 'zone', operator: 'Has' }), '"In"'],
    [expression({ key: 'a b', operator: 'Exists' }), 'must be a label key'],
    [expression({ key: own, operator: 'Exists' }), 'must not end in'],
    [expression({ key: 'zone', operator: 'In', values: ['a b'] }), 'must be a label value'],
    [{ matchLabels: { zone: 'a b' } }, 'must be a label value'],
    [{ matchLabels: { 'a b': 'c' } }, 'key must be a label key'],
    [{ matchLabels: { [own]: 'true' } }, 'must not end in'],
  ];
  return rows.map(([nodeSelector, message]) => [`nodes by ${JSON.stringify(nodeSelector)}`, { nodeSelector }, message]);
}

function capacities(): SpecRow[] {
  const inPool = (pool: string) => ({ matchLabels: { pool } });
  const big = { nodeSelector: inPool('big'), value: '10Gbit' };
  const rows: [why: string, capacity: object[], message: string][] = [
    ['without a unit', [{ value: '10' }], 'must be a decimal number above 0 with one of the units'],
    ['in bytes or bits', [{ value: '10Gbps' }], 'must be a decimal number above 0'],
    ['of zero', [{ value: '0Gbit' }], 'must be a decimal number above 0'],
    ['without a value', [{ nodeSelector: inPool('a') }], 'value'],
    ['that is never used', [{ value: '1Gbit' }, big], 'must be the last: it matches every node'],
    ['that is never used, with an empty selector', [{ nodeSelector: {}, value: '1Gbit' }, big], 'must be the last'],
    ['for no label', [{ nodeSelector: inPool('a b'), value: '1Gbit' }], 'must be a label value'],
    [
      'for our own label',
      [{ nodeSelector: { matchLabels: { 'web.traffic.example.com/unfit': 'true' } }, value: '1Gbit' }],
      'the verdicts would decide the capacity',
    ],
    ['of too many entries', Array.from({ length: 17 }, () => big), 'must have at most 16'],
  ];
  return rows.map(([why, capacity, message]) => [`a capacity ${why}`, { capacity }, message]);
}

describe('the CRD and the parser agree', () => {
  it.each<SpecRow>(SPECS)('on %s', async (_why, spec, message, name) => {
    const watch = trafficWatch(spec, name);
    const parsed = parseTrafficWatchSpec(watch);
    const problems = 'problems' in parsed ? parsed.problems.join('; ') : '';
    const answer = await dryRun(watch);
    expect([answer.ok, problems === '']).toEqual([message === undefined, message === undefined]);
    expect([answer.text, problems]).toEqual([
      expect.stringContaining(message ?? ''),
      expect.stringContaining(message ?? ''),
    ]);
  });
});
