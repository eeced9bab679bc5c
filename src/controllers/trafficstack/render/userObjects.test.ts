import { describe, expect, it } from 'vitest';
import { objectKindOf } from '../../../api/trafficstack/objectKinds.ts';
import type { ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';
import { stackOf } from '../testing/stacks.ts';
import { renderStack } from './stack.ts';

const KINDS = ['batch/v1/jobs/Job', 'networking.k8s.io/v1/ingresses/Ingress'].map((text) => objectKindOf(text)!);
const INGRESS = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'web' }, spec: { rules: [] } };
const component = (object: object, readyWhen?: string): ComponentSpec => ({
  ...{ name: 'edge', type: 'Objects' },
  objects: {
    namespace: 'shop',
    manifests: [{ object: object as never, ...(readyWhen !== undefined && { readyWhen }) }],
  },
});
const render = (spec: ComponentSpec, objectKinds = KINDS) =>
  renderStack(stackOf([]), {}, [spec], { countNodes: () => 1, builtIns: [], objectKinds });
const rendered = (spec: ComponentSpec) => {
  const result = render(spec);
  return 'components' in result ? result.components[0]! : expect.fail(result.problems.join());
};

it('has the labels and the owner of the stack, which replace what a manifest says, and keeps the rest', () => {
  const metadata = { name: 'web', labels: { app: 'web', 'traffic.example.com/stack': 'x' }, annotations: { a: 'b' } };
  const [found] = rendered(component({ ...INGRESS, metadata })).objects;
  expect(found?.resource.plural).toBe('ingresses');
  expect(found?.object).toMatchObject({
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', spec: { rules: [] } },
    metadata: {
      ...{ name: 'web', namespace: 'shop', annotations: { a: 'b' } },
      labels: { app: 'web', 'traffic.example.com/stack': 'main', 'traffic.example.com/component': 'edge' },
      ownerReferences: [{ kind: 'TrafficStack', name: 'main' }],
    },
  });
});

it('has another revision with another object, and with another readyWhen', () => {
  const revision = rendered(component(INGRESS)).revision;
  expect(rendered(component(INGRESS)).revision).toBe(revision);
  expect(rendered(component({ ...INGRESS, spec: {} })).revision).not.toBe(revision);
  expect(rendered(component(INGRESS, 'true')).revision).not.toBe(revision);
});

describe('is a problem', () => {
  const field = 'component edge, objects.manifests[0].object';
  it.each<[why: string, object: object, problem: string]>([
    [
      'a kind that is not allowed',
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } },
      `${field}: the kind Secret of v1 is not allowed; the administrator can allow it with stacks.objectKinds of the chart (--stack-object-kind); allowed: batch/v1/jobs/Job, networking.k8s.io/v1/ingresses/Ingress`,
    ],
    ['another version of an allowed kind', { ...INGRESS, apiVersion: 'networking.k8s.io/v1beta1' }, 'is not allowed'],
    [
      'no name',
      { ...INGRESS, metadata: { generateName: 'a-' } },
      `${field}.metadata.name: must be the name of the object`,
    ],
    [
      'another namespace',
      { ...INGRESS, metadata: { name: 'web', namespace: 'kube-system' } },
      `${field}.metadata.namespace: must be absent or shop, as in objects.namespace, and not "kube-system"`,
    ],
    [
      'an owner',
      { ...INGRESS, metadata: { name: 'web', ownerReferences: [] } },
      `${field}.metadata.ownerReferences: must be absent`,
    ],
    [
      'a Job that is gone before its end is seen',
      { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a' }, spec: { ttlSecondsAfterFinished: 0 } },
      `${field}.spec.ttlSecondsAfterFinished: must be at least 300, and not 0`,
    ],
    ['a status', { ...INGRESS, status: {} }, `${field}.status: must be absent`],
  ])('%s', (_why, object, problem) => {
    expect(render(component(object))).toEqual({ problems: [expect.stringContaining(problem)] });
  });

  it('an expression that is none', () => {
    const problems = [expect.stringContaining('component edge, objects.manifests[0].readyWhen: ')];
    expect(render(component(INGRESS, 'object.status.('))).toEqual({ problems });
    expect(render(component(INGRESS, 'workload.status.ready'))).toEqual({ problems });
  });

  it('any kind, if none is allowed', () => {
    expect(render(component(INGRESS), [])).toEqual({ problems: [expect.stringContaining('; none is allowed')] });
  });
});
