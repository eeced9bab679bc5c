import { describe, expect, it } from 'vitest';
import { prometheusDuration } from '../runtime/process/duration.ts';
import * as kubernetes from './kubernetesValues.ts';
import type { ValueType } from './values.ts';

const read = (type: ValueType<unknown>, text: string): unknown => type.schema.safeParse(text).data;

const affinity = (required: string): string =>
  `{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":${required}}}`;

describe('values in Kubernetes notation', () => {
  it.each([
    ['{}', {}],
    ['{"requests":{"cpu":"50m","memory":"1.5Gi"},"limits":{"memory":"1e9"}}', undefined],
    ['{"limits":{"cpu":2}}', { limits: { cpu: '2' } }],
  ])('accepts the resources %s', (text, value) =>
    expect(read(kubernetes.resources, text)).toEqual(value ?? JSON.parse(text)),
  );

  it.each(['', 'x', '[]', '{"limit":{}}', '{"limits":{"cpu":"many"}}', '{"limits":{"cpu":"-1"}}', '{"limits":"1Gi"}'])(
    'rejects the resources %s, and reports what is allowed',
    (text) => {
      const [issue] = kubernetes.resources.schema.safeParse(text).error?.issues ?? [];
      expect(issue?.message).toMatch(/^must be JSON of requests and limits .* such as \{"requests"/);
    },
  );

  it.each(['[]', '[{"operator":"Exists"}]', '[{"key":"a","value":"b","effect":"NoExecute","tolerationSeconds":60}]'])(
    'accepts the tolerations %s',
    (text) => expect(read(kubernetes.tolerations, text)).toEqual(JSON.parse(text)),
  );

  it.each(['{}', '[{"operator":"exists"}]', '[{"effects":"NoExecute"}]', '[{"tolerationSeconds":"60"}]', '[null]'])(
    'rejects the tolerations %s',
    (text) => expect(read(kubernetes.tolerations, text)).toBeUndefined(),
  );

  it.each<[requirement: string, isValid: boolean]>([
    ['{"key":"a","operator":"In","values":["b"]}', true],
    ['{"key":"a","operator":"NotIn","values":["b","c"]}', true],
    ['{"key":"a","operator":"Exists"}', true],
    ['{"key":"a","operator":"Gt","values":["7"]}', true],
    ['{"key":"a","operator":"Exists","values":["b"]}', false],
    ['{"key":"a","operator":"In","values":[]}', false],
    ['{"key":"a","operator":"Lt","values":["b"]}', false],
    ['{"key":"a","operator":"Like","values":["b"]}', false],
    ['{"operator":"Exists"}', false],
  ])('reads the node affinity with %s: %s', (requirement, isValid) => {
    const text = affinity(`{"nodeSelectorTerms":[{"matchExpressions":[${requirement}]}]}`);
    expect(read(kubernetes.nodeAffinity, text)).toEqual(isValid ? JSON.parse(text) : undefined);
  });

  it.each([
    '{}',
    '{"podAntiAffinity":{}}',
    '{"nodeAffinity":{}}',
    affinity('{"nodeSelectorTerms":[]}'),
    affinity('{"nodeSelectorTerms":[{}]}'),
  ])('rejects the node affinity %s, and reports what is allowed', (text) => {
    const [issue] = kubernetes.nodeAffinity.schema.safeParse(text).error?.issues ?? [];
    expect(issue?.message).toMatch(/^must be JSON of a required node affinity, such as /);
  });

  it.each([
    ['pool=infra', ['pool', 'infra']],
    ['example.com/a.b_c=', ['example.com/a.b_c', '']],
    ['pool', undefined],
    ['=infra', undefined],
    ['pool=in fra', undefined],
    [`pool=${'x'.repeat(64)}`, undefined],
  ])('reads the node label %s', (text, value) => expect(read(kubernetes.nodeLabel, text)).toEqual(value));

  it.each([
    ['karpenter.k8s.aws/instance-network-bandwidth', 'karpenter.k8s.aws/instance-network-bandwidth'],
    ['mbits', 'mbits'],
    ['', undefined],
    ['a=b', undefined],
    ['a b', undefined],
    ['/a', undefined],
  ])('reads the label key %s', (text, value) => expect(read(kubernetes.labelKey, text)).toBe(value));

  it.each([
    ['10Gi', '10Gi'],
    ['2e9', '2e9'],
    ['1.5T', '1.5T'],
    ['1Mi', undefined],
    ['1G', undefined],
    ['10GB', undefined],
  ])('reads the size %s', (text, value) => expect(read(kubernetes.volumeSize, text)).toBe(value));
});

describe("values in Prometheus' notation", () => {
  it.each([
    ['24h', '24h'],
    ['15d', '15d'],
    ['1d12h', '1d12h'],
    ['120m', '120m'],
    ['1h', undefined],
    ['12h1d', undefined],
    ['1.5d', undefined],
    ['0', undefined],
  ])('reads the time %s', (text, value) => expect(read(kubernetes.retention, text)).toBe(value));

  it.each([
    ['512MB', '512MB'],
    ['0MB', undefined],
    ['8Gi', undefined],
  ])('reads the size %s', (text, value) => expect(read(kubernetes.retentionSize, text)).toBe(value));

  it('are converted to milliseconds', () => expect(prometheusDuration('1w1d1h1m1s')).toBe(694_861_000));
});
