import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { STORED, storedSchema } from '../../scripts/deploymentSchema.ts';
import { deploymentSpec, pod, trafficWatch, useCrdPlane } from './crdPlane.ts';

/** The CRD of TrafficWatches on a real API server: stored objects, and the pod template. */
const { kubectl, dryRun } = useCrdPlane();

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

function deployment(spec: object) {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'sample' }, spec };
}

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

describe('the columns of kubectl get', () => {
  it('show the mode, and whether the breaker is open', async () => {
    const conditions = [
      ['Ready', 'True'],
      ['BreakerOpen', 'False'],
    ].map(([type, status]) => {
      return { type, status, reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
    });
    const status = { mode: 'Observe', fitNodes: 7, unfitNodes: 2, unknownNodes: 1, conditions };
    expect(await kubectl(['create', '-f-'], trafficWatch({}, 'shown'))).toMatchObject({ ok: true });
    const patch = ['patch', 'tw', 'shown', '--subresource=status', '--type=merge', '-p', JSON.stringify({ status })];
    expect(await kubectl(patch)).toMatchObject({ ok: true });
    const { text } = await kubectl(['get', 'tw', 'shown', '--no-headers']);
    expect(text).toMatch(/^shown +True +Observe +60 +7 +2 +1 +False +\d+s$/m);
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
      const theirs = await dryRun(deployment(spec));
      const [unknown] = /unknown field "[^"]+"/.exec(theirs.text) ?? ['no unknown field'];
      const expected = unknown.replace('"spec.', '"spec.deployment.');
      expect(await dryRun(trafficWatch({ deployment: spec }))).toMatchObject({
        ok: theirs.ok,
        text: expect.stringContaining(expected) as string,
      });
      const warn = (object: object) => kubectl(['create', '--dry-run=server', '--validate=warn', '-f-'], object);
      const [warned, ok] = [await warn(trafficWatch({ deployment: spec })), (await warn(deployment(spec))).ok];
      expect(warned).toMatchObject({ ok, text: expect.stringContaining(expected) as string });
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

  it('is explained, as the fields that are not of a Deployment', async () => {
    await vi.waitFor(async () => {
      const hold = await kubectl(['explain', 'trafficwatch.spec.minHold']);
      expect(hold.text).toMatch(/FIELD: minHold <string>[^]*Default: none/);
      const template = await kubectl(['explain', 'trafficwatch.spec.deployment.template']);
      expect(template.text).toMatch(
        /FIELD: template <Object>[^]*Template describes the pods[^]*metadata\t<Object>[^]*spec\t<Object>/,
      );
    }, 90_000);
    const container = await kubectl(['explain', 'trafficwatch.spec.deployment.template.spec.containers.resources']);
    expect(container.text).toMatch(/limits\t<map\[string\][^]*Limits describes the maximum amount of compute/);
  });
});

function withContainer(fields: object): object {
  return { containers: [{ name: 'web', image: 'web:1', ...fields }] };
}

function claim(): object {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  return { name: 'v', ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: 'b' } }, spec } } };
}
