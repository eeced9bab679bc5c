import { describe, expect, it } from 'vitest';
import { nodeSelectorOf } from './spec/nodeSelector.ts';
import { placementOf } from './spec/placement.ts';
import { parseTrafficWatchSpec, type TrafficWatch } from './schema.ts';
import { thresholdOf } from './spec/verdict.ts';

const deployment = {
  selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
};

function watch(spec: object): TrafficWatch {
  return {
    metadata: { name: 'sample', namespace: 'default' },
    spec: { maxBandwidthPercent: '60', deployment, ...spec },
  };
}

function problems(object: unknown): string[] {
  const parsed = parseTrafficWatchSpec(object);
  return 'problems' in parsed ? parsed.problems : [];
}

describe('parseTrafficWatchSpec', () => {
  it.each(['0', '60', '12.5', '1.5e-03', '1E2', '.5', '5.', '+7', '1e99', '1e+006', '9'.repeat(28) + 'e99'])(
    'accepts the threshold %j as a finite number',
    (maxBandwidthPercent) => {
      const parsed = parseTrafficWatchSpec(watch({ maxBandwidthPercent }));
      expect(parsed).toHaveProperty('spec.maxBandwidthPercent', maxBandwidthPercent);
      expect('spec' in parsed && Number.isFinite(thresholdOf(parsed.spec))).toBe(true);
    },
  );

  it.each(['', ' ', '-1', '-0', 'NaN', 'Inf', '+Inf', '1e999', '1e100', 'abc', '1 ', '1,5', '0x10', '1e', '.', '1\n'])(
    'rejects the threshold %j and says what is allowed',
    (maxBandwidthPercent) => {
      expect(problems(watch({ maxBandwidthPercent }))).toEqual([
        `spec.maxBandwidthPercent is ${JSON.stringify(maxBandwidthPercent)}: must be a finite number of at least 0, ` +
          'decimal or with an exponent of at most two digits, such as "12.5" or "1.5e-03"',
      ]);
    },
  );

  it.each([undefined, '', 'web', 'web.example', '0', 'a-b', 'a'.repeat(233)])('accepts the label %j', (label) => {
    expect(problems(watch({ label }))).toEqual([]);
  });

  it.each(['Web', 'a_b', '-a', 'a-', 'a..b', '.a', 'a/b', 'a b', 'a'.repeat(234)])('rejects the label %j', (label) => {
    expect(problems(watch({ label })).join()).toMatch(/^spec\.label is .*: must be empty or the start of a DNS name/);
  });

  it.each([undefined, 'Required', 'Preferred'])('accepts the placement %j', (placement) => {
    expect(problems(watch({ placement }))).toEqual([]);
  });

  it('rejects any other placement and names the allowed ones', () => {
    expect(problems(watch({ placement: 'preferred' })).join()).toMatch(
      /^spec\.placement is "preferred": .*Required.*Preferred/,
    );
  });

  it('has the placement Required by default', () => {
    expect(placementOf(watch({}).spec)).toBe('Required');
    expect(placementOf(watch({ placement: 'Preferred' }).spec)).toBe('Preferred');
  });

  it.each([undefined, 'Transmit', 'Receive', 'Max', 'Sum'])('accepts the direction %j', (direction) => {
    expect(problems(watch({ direction }))).toEqual([]);
  });

  it('rejects any other direction and names the allowed ones', () => {
    expect(problems(watch({ direction: 'transmit' })).join()).toMatch(
      /^spec\.direction is "transmit": .*Transmit.*Receive.*Max.*Sum/,
    );
  });

  it('accepts the measures Sum and Fullest, and names them if it is another', () => {
    for (const measure of [undefined, 'Sum', 'Fullest']) expect(problems(watch({ measure }))).toEqual([]);
    expect(problems(watch({ measure: 'Max' })).join()).toMatch(/^spec\.measure is "Max": .*Sum.*Fullest/);
  });

  const RULE = 'must be a regular expression in the syntax of RE2';
  it.each(['eth0', 'bond.*|eth0', '(?i)ETH.*', '[a-z]{3}[0-9]+', 'é', 'x'.repeat(256)])(
    'accepts the devices %j',
    (one) => {
      expect(problems(watch({ devices: { include: one, exclude: one } }))).toEqual([]);
    },
  );

  it.each([
    '',
    '(',
    '[',
    '*',
    'a{2,1}',
    '(?=eth)eth0',
    '(?<!a)b',
    '(a)\\1',
    'x'.repeat(257),
    'a{16}',
    '(eth){2,1000}',
    'a{16,}',
    String.raw`(?:(?:\pL{15}){15}){4}`,
  ])('rejects the devices %j and names field, value and rule', (one) => {
    for (const field of ['include', 'exclude']) {
      const [problem = ''] = problems(watch({ devices: { [field]: one } }));
      expect(problem.startsWith(`spec.devices.${field} is ${JSON.stringify(one).slice(0, 70)}`)).toBe(true);
      expect(problem).toContain(RULE);
    }
  });
  const expression = (requirement: object) => ({ nodeSelector: { matchExpressions: [requirement] } });

  it.each([
    {},
    { matchLabels: {}, matchExpressions: [] },
    { matchLabels: { 'node-role.kubernetes.io/worker': '', zone: 'eu-1.a_b' } },
    { matchLabels: { [`${'a'.repeat(253)}/${'b'.repeat(63)}`]: 'c'.repeat(63) } },
    { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', ''] }] },
    { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] },
    {
      matchExpressions: [
        { key: 'zone', operator: 'Exists' },
        { key: 'x', operator: 'DoesNotExist', values: [] },
      ],
    },
  ])('accepts the node selector %j', (nodeSelector) => {
    expect(problems(watch({ nodeSelector }))).toEqual([]);
  });

  it.each<[what: object, problem: RegExp]>([
    [expression({ key: 'a b', operator: 'Exists' }), /matchExpressions\.0\.key is "a b": must be a label key/],
    [expression({ key: '', operator: 'Exists' }), /key is "": must be a label key/],
    [expression({ key: 'A.b/c', operator: 'Exists' }), /key is "A\.b\/c": must be a label key/],
    [expression({ key: `x/${'b'.repeat(64)}`, operator: 'Exists' }), /must be a label key/],
    [expression({ key: `${'a'.repeat(254)}/b`, operator: 'Exists' }), /must be a label key/],
    [expression({ key: 'web.traffic.example.com/unfit', operator: 'Exists' }), /must not end in \.traffic\.example/],
    [expression({ key: 'zone', operator: 'in', values: ['a'] }), /operator is "in": .*"In"/],
    [expression({ key: 'zone', operator: 'In' }), /values is missing: must have at least one value/],
    [expression({ key: 'zone', operator: 'NotIn', values: [] }), /values is \[\]: must have at least one value/],
    [expression({ key: 'zone', operator: 'Exists', values: ['a'] }), /values is \["a"\]: must be empty/],
    [expression({ key: 'zone', operator: 'In', values: ['-a'] }), /values\.0 is "-a": must be a label value/],
    [{ nodeSelector: { matchLabels: { zone: 'a/b' } } }, /matchLabels\.zone is "a\/b": must be a label value/],
    [{ nodeSelector: { matchLabels: { 'a b': 'c' } } }, /matchLabels\.a b is "c": the key must be a label key/],
    [{ nodeSelector: 'zone=a' }, /nodeSelector is "zone=a"/],
  ])('rejects %j', (spec, problem) => {
    expect(problems(watch(spec)).join()).toMatch(problem);
  });

  it.each<[what: object, problem: RegExp]>([
    [{ matchLabels: { 'a b': 'c' } }, /^spec\.podSelector\.matchLabels\.a b is "c": the key must be a label key/],
    [{ matchLabels: { app: 'a/b' } }, /^spec\.podSelector\.matchLabels\.app is "a\/b": must be a label value/],
    [{ matchExpressions: [{ key: 'a b', operator: 'Exists' }] }, /key is "a b": must be a label key/],
    [{ matchExpressions: Array.from({ length: 51 }, () => ({ key: 'a', operator: 'Exists' })) }, /matchExpressions/],
  ])('checks the pod selector %j as well', (podSelector, problem) => {
    expect(problems(watch({ deployment: undefined, podSelector })).join()).toMatch(problem);
  });

  it('allows the labels of the operator in a pod selector, which decides no verdict', () => {
    const podSelector = { matchLabels: { 'web.traffic.example.com/unfit': 'true' } };
    expect(problems(watch({ deployment: undefined, podSelector }))).toEqual([]);
  });

  it('reads the node selector of a spec, and none where it selects all nodes or is invalid', () => {
    const zone = { matchLabels: { zone: 'a' } };
    const invalid = { matchLabels: { 'a b': 'c' } };
    const specs = [{ nodeSelector: zone }, {}, { nodeSelector: {} }, { nodeSelector: invalid }, null, undefined];
    expect(specs.map(nodeSelectorOf)).toEqual([zone, undefined, undefined, undefined, undefined, undefined]);
  });

  const pod = { containers: [{ name: 'web', image: 'web:1' }] };
  const withPod = (spec: unknown) => ({ selector: {}, template: { spec } });
  const withTerms = (nodeSelectorTerms: unknown) =>
    withPod({
      ...pod,
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    });
  const TERMS = 'template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  it.each<[string, unknown]>([
    ['selector is missing: must be an object', { template: {} }],
    ['template is missing: must be an object', { selector: {} }],
    ['template is "x": must be an object', { selector: {}, template: 'x' }],
    ['template.spec is null: must be an object', withPod(null)],
    ['template.spec.containers is missing: must be a list', withPod({})],
    ['template.spec.containers.0 is null: must be an object', withPod({ containers: [null] })],
    ['template.spec.affinity is "x": must be an object', withPod({ ...pod, affinity: 'x' })],
    [
      'template.spec.affinity.nodeAffinity is []: must be an object',
      withPod({ ...pod, affinity: { nodeAffinity: [] } }),
    ],
    ['replicas is 1.5: must be a whole number below 2147483648', { ...withPod(pod), replicas: 1.5 }],
    ['replicas is 2147483648: must be a whole number below 2147483648', { ...withPod(pod), replicas: 2 ** 31 }],
    ['minReadySeconds is "3": must be a whole number below 2147483648', { ...withPod(pod), minReadySeconds: '3' }],
    [`${TERMS} is {}: must be a list`, withTerms({})],
    [`${TERMS}.1 is null: must be an object`, withTerms([{}, null])],
    [`${TERMS}.0.matchExpressions is "x": must be a list`, withTerms([{ matchExpressions: 'x' }])],
    [`${TERMS}.0.matchFields.0 is null: must be an object`, withTerms([{ matchFields: [null] }])],
  ])('names the field of the deployment: %s', (message, bad) => {
    expect(problems(watch({ deployment: bad }))).toContain(`spec.deployment.${message}`);
  });

  it.each([[[]], [null], ['x']])('rejects %j as a deployment', (bad) => {
    expect(problems(watch({ deployment: bad })).join()).toMatch(/^spec\.deployment is .*: must be a DeploymentSpec/);
  });

  it.each([null, undefined, {}, { nodeAffinity: null }])('accepts the affinity %j', (affinity) => {
    expect(problems(watch({ deployment: withPod({ ...pod, affinity }) }))).toEqual([]);
  });

  it('never cuts a surrogate pair in a quoted value', () => {
    for (const shift of [0, 1]) {
      const [message = ''] = problems(watch({ label: 'x'.repeat(shift) + '👩'.repeat(200) }));
      expect(message.isWellFormed()).toBe(true);
    }
  });

  it('abbreviates values that are too deep for JSON.stringify, and names only the first of many problems', () => {
    const deep: unknown = JSON.parse('{"a":'.repeat(50_000) + '1' + '}'.repeat(50_000));
    expect(problems(watch({ maxBandwidthPercent: deep })).join()).toContain('spec.maxBandwidthPercent is {...}: ');
    expect(problems(watch({ deployment: withTerms(Array(800).fill(1)) }))).toHaveLength(6);
  });

  it('names every problem, and each missing field', () => {
    expect(
      problems({ metadata: { name: 'sample' }, spec: { deployment, label: 'A', maxBandwidthPercent: 5 } }),
    ).toEqual([
      expect.stringContaining('spec.maxBandwidthPercent is 5: '),
      expect.stringContaining('spec.label is "A": '),
    ]);
    expect(problems({ metadata: { name: 'sample' } })).toEqual([expect.stringContaining('spec is missing: ')]);
  });

  it('keeps the deployment unchanged, including unknown fields', () => {
    const future = { ...deployment, aFieldOfTomorrow: { x: 1 } };
    expect(parseTrafficWatchSpec(watch({ deployment: future }))).toHaveProperty('spec.deployment', future);
  });

  it('ignores the status', () => {
    expect(problems({ ...watch({}), status: { nodes: 'garbage' } })).toEqual([]);
  });
});
