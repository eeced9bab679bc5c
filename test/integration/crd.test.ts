import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { STORED, storedSchema } from '../../scripts/deploymentSchema.ts';
import { parseTrafficWatchSpec } from '../../src/api/trafficwatch/schema.ts';
import { binary } from '../lab/binaries.ts';
import { type ControlPlane, startControlPlane } from '../harness/controlPlane.ts';

const CRD = path('../../deploy/crds/traffic.example.com_trafficwatches.yaml');
const THRESHOLD_MESSAGE = 'must be a finite number of at least 0, decimal or with an exponent';
const LABEL_MESSAGE = 'must be empty or the start of a DNS name';

let plane: ControlPlane;
let kubectlPath: string;

interface Answer {
  ok: boolean;
  /** Standard output and error output: kubectl prints warnings and errors to the latter. */
  text: string;
}

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

function kubectl(args: readonly string[], input?: object): Promise<Answer> {
  return new Promise((resolve) => {
    const child = execFile(
      kubectlPath,
      [`--kubeconfig=${plane.kubeconfig}`, ...args],
      { maxBuffer: 1 << 24 },
      (error, stdout, stderr) => resolve({ ok: error === null, text: stdout + stderr }),
    );
    // Without an input kubectl may have ended already: do not write to it then, not even an empty string.
    if (input === undefined) child.stdin?.end();
    else child.stdin?.end(JSON.stringify(input));
  });
}

/** The answer of the API server to a dry run with the object. */
function dryRun(object: object, validate = 'strict'): Promise<Answer> {
  return kubectl(['create', '--dry-run=server', `--validate=${validate}`, '-f-'], object);
}

const pod = { containers: [{ name: 'web', image: 'web:1' }] };

function deploymentSpec(podSpec: object, metadata: object = {}) {
  const labels = { app: 'web' };
  return { selector: { matchLabels: labels }, template: { metadata: { labels, ...metadata }, spec: podSpec } };
}

function trafficWatch(spec: object, name = 'sample'): object {
  return {
    apiVersion: 'traffic.example.com/v1alpha1',
    kind: 'TrafficWatch',
    metadata: { name },
    spec: { maxBandwidthPercent: '60', deployment: deploymentSpec(pod), ...spec },
  };
}

function deployment(spec: object) {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'sample' }, spec };
}

beforeAll(async () => {
  kubectlPath = await binary('kubectl');
  plane = await startControlPlane();
  // Client-side apply, as most users do: the object must fit into an annotation of 256 KiB.
  expect(await kubectl(['apply', '-f', CRD])).toMatchObject({ ok: true });
  await kubectl(['wait', '--for=condition=Established', '--timeout=90s', '-f', CRD]);
  await vi.waitFor(async () => expect(await dryRun(trafficWatch({}))).toMatchObject({ ok: true }), 90_000);
});
afterAll(() => plane.stop());

describe('existing objects', () => {
  it.each(['testdata/existing-trafficwatch.yaml', '../../deploy/samples/trafficwatch.yaml'])(
    '%s applies unchanged under strict validation, and loses no field',
    async (file) => {
      expect(await kubectl(['apply', '--validate=strict', '-f', path(file)])).toMatchObject({ ok: true });
      // The stored object is the same as the written one.
      expect(await kubectl(['diff', '-f', path(file)])).toEqual({ ok: true, text: '' });
    },
  );

  it('are listed with their most important fields', async () => {
    const { text } = await kubectl(['get', 'tw', 'existing']);
    expect(text.split('\n')[0]?.trim().split(/ {2,}/)).toEqual([
      'NAME',
      'READY',
      'MODE',
      'MAX %',
      'FIT',
      'UNFIT',
      'UNKNOWN',
      'BREAKER',
      'AGE',
    ]);
    expect(text).toMatch(/^existing +60 +\d+s$/m);
  });

  it('keep a status that has none of the new fields, and a byte counter beyond 2^53', async () => {
    const nodes = { n1: { currentBandwidthPercent: '1.06976e-04', time: 1700000000, unfit: false } };
    const status = JSON.stringify({ status: { ready: true, nodes } });
    const counter = status.replace('"unfit"', '"currentTransmitTotal":9223372036854775807,"unfit"');
    const patch = ['patch', 'tw', 'existing', '--subresource=status', '--type=merge', '-p'];
    expect(await kubectl([...patch, counter])).toMatchObject({ ok: true });
    const total = await kubectl(['get', 'tw', 'existing', '-o=jsonpath={.status.nodes.n1.currentTransmitTotal}']);
    expect(total.text).toBe('9223372036854775807');
  });
});

describe('the pod template is checked as in a Deployment', () => {
  it.each<[string, object, object?]>([
    ['labels, annotations and a null that tools write', pod, { annotations: { a: 'b' }, creationTimestamp: null }],
    [
      'a port twice, by protocol',
      withContainer({ ports: [{ containerPort: 53 }, { containerPort: 53, protocol: 'UDP' }] }),
    ],
    [
      'a port by name and by number',
      withContainer({ livenessProbe: { httpGet: { port: 'http' } }, readinessProbe: { httpGet: { port: 80 } } }),
    ],
    [
      'quantities as text and as number',
      withContainer({ resources: { limits: { cpu: 1, memory: '1.5Gi' }, requests: { cpu: '.5' } } }),
    ],
    ['empty text for what is not set', withContainer({ imagePullPolicy: '', terminationMessagePolicy: '' })],
    ['a toleration of everything', { ...pod, tolerations: [{ operator: 'Exists', effect: '' }] }],
    ['an empty pod anti-affinity', { ...pod, affinity: { podAntiAffinity: {} } }],
    ['a volume with its own claim template', { ...pod, volumes: [claim()] }],
    [
      'an init container that stays',
      { ...pod, initContainers: [{ name: 'side', image: 'side:1', restartPolicy: 'Always' }] },
    ],
  ])('accepted: %s', async (_what, podSpec, metadata = {}) => {
    const spec = deploymentSpec(podSpec, metadata);
    expect(await dryRun(deployment(spec))).toMatchObject({ ok: true });
    expect(await dryRun(trafficWatch({ deployment: spec }))).toMatchObject({ ok: true });
  });

  it.each<[string, object, object?]>([
    ['a field of the pod', { ...pod, contaners: [] }],
    ['a field of a container', withContainer({ comand: ['x'] })],
    ['a field deep down', withContainer({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPat: 'x' } } }] })],
    ['a field of the metadata', pod, { label: { a: 'b' } }],
  ])(
    'misspelt and refused in the same words, warned of without strictness: %s',
    async (_what, podSpec, metadata = {}) => {
      const spec = deploymentSpec(podSpec, metadata);
      for (const validate of ['strict', 'warn']) {
        const theirs = await dryRun(deployment(spec), validate);
        const ours = await dryRun(trafficWatch({ deployment: spec }), validate);
        expect(ours.ok).toBe(theirs.ok);
        const [unknown] = /unknown field "[^"]+"/.exec(theirs.text) ?? ['no unknown field'];
        expect(ours.text).toContain(unknown.replace('"spec.', '"spec.deployment.'));
      }
    },
  );

  it.each([
    ['text for a list', withContainer({ command: 'x' }), 'containers[0].command'],
    ['a number for text', withContainer({ env: [{ name: 'A', value: 1 }] }), 'containers[0].env[0].value'],
    ['text for a number', withContainer({ ports: [{ containerPort: '80' }] }), 'containers[0].ports[0].containerPort'],
    ['a list for an object', { ...pod, affinity: [] }, 'affinity'],
    ['text for a truth value', { ...pod, hostNetwork: 'yes' }, 'hostNetwork'],
    ['no containers', {}, 'containers'],
    ['a container without a name', { containers: [{ image: 'x' }] }, 'containers[0].name'],
    [
      'a quantity that is none',
      withContainer({ resources: { limits: { cpu: '1 core' } } }),
      'containers[0].resources.limits',
    ],
    ['a policy that does not exist', withContainer({ imagePullPolicy: 'Allways' }), 'containers[0].imagePullPolicy'],
    ['a name twice', { containers: [...pod.containers, ...pod.containers] }, 'containers[1]'],
  ])('wrongly typed and refused, naming the field: %s', async (_what, podSpec, field) => {
    const spec = deploymentSpec(podSpec);
    expect(await dryRun(deployment(spec))).toMatchObject({ ok: false });
    const ours = await dryRun(trafficWatch({ deployment: spec }));
    expect(ours.ok).toBe(false);
    expect(ours.text).toContain(`spec.deployment.template.spec.${field}`);
  });

  it('knows the same fields as the API server it was tested with', async () => {
    const { text } = await kubectl(['get', '--raw', '/openapi/v3/apis/apps/v1']);
    // If this fails: kubectl get --raw /openapi/v3/apis/apps/v1 | node scripts/deploymentSchema.ts
    expect(storedSchema(text)).toEqual(JSON.parse(readFileSync(STORED, 'utf8')));
  });

  it('is explained', async () => {
    await vi.waitFor(async () => {
      const template = await kubectl(['explain', 'trafficwatch.spec.deployment.template']);
      expect(template.text).toMatch(
        /FIELD: template <Object>[^]*Template describes the pods[^]*metadata\t<Object>[^]*spec\t<Object>/,
      );
    }, 90_000);
    const container = await kubectl(['explain', 'trafficwatch.spec.deployment.template.spec.containers.resources']);
    expect(container.text).toMatch(/limits\t<map\[string\][^]*Limits describes the maximum amount of compute/);
  });
});

/** Of the spec, without the three kinds of workload, of which one is required. */
const OPTIONAL = [
  ...['recoverBandwidthPercent', 'passes.unfit', 'passes.fit', 'minHold', 'missingData.policy', 'missingData.holdFor'],
  ...['direction', 'measure', 'devices', 'devices.include', 'devices.exclude', 'capacity', 'capacity.nodeSelector'],
  ...['mode', 'maxUnfit', 'minFit', 'breakerCooldown', 'nodeSelector', 'label', 'placement'],
];

describe('the optional fields of the spec', () => {
  it.each(OPTIONAL)('%s: kubectl explain names the default', async (field) => {
    const { text } = await kubectl(['explain', `trafficwatch.spec.${field}`]);
    expect(text).toMatch(/default|absent/i);
  });
});

function withContainer(fields: object): object {
  return { containers: [{ name: 'web', image: 'web:1', ...fields }] };
}

function claim(): object {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  return { name: 'v', ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: 'b' } }, spec } } };
}

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
  ['a name that is too long', {}, 'metadata.name has more than 233 characters', 'n'.repeat(234)],
  ['a name that is too long, beside an empty label', { label: '' }, 'use a shorter name', 'n'.repeat(234)],
  ['a long name beside a label', { label: 'web' }, undefined, 'n'.repeat(253)],
  ['the longest name that fits', {}, undefined, 'n'.repeat(233)],
  ['no workload', { deployment: undefined }, 'exactly one of deployment, targetRef and podSelector must be set'],
  ['a target', { deployment: undefined, targetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' } }],
  ['pods', { deployment: undefined, podSelector: { matchLabels: { app: 'web' } } }],
  ['two workloads', { podSelector: {} }, 'exactly one of deployment, targetRef and podSelector must be set'],
  ['a deployment without a template', { deployment: { selector: {} } }, 'spec.deployment'],
  ['a deployment without a selector', { deployment: { template: {} } }, 'spec.deployment'],
  ['a pod without containers', { deployment: deploymentSpec({}) }, 'spec.deployment'],
];

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
