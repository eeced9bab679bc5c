import fc from 'fast-check';
import { expect, it, describe } from 'vitest';
import { apiVersionOf, keyOf, refOfKey, resourceName, resourcePath, sameSpec } from './resource.ts';
import { DEPLOYMENTS, NODES, PODS } from './resources.ts';

it.each([
  [resourcePath(NODES), '/api/v1/nodes'],
  [resourcePath(NODES, { name: 'n1' }), '/api/v1/nodes/n1'],
  [resourcePath(NODES, { name: 'n1', namespace: 'ignored' }), '/api/v1/nodes/n1'],
  [resourcePath(PODS), '/api/v1/pods'],
  [resourcePath(PODS, { namespace: 'a' }), '/api/v1/namespaces/a/pods'],
  [resourcePath(PODS, { namespace: 'a', name: 'p' }, 'eviction'), '/api/v1/namespaces/a/pods/p/eviction'],
  [
    resourcePath(DEPLOYMENTS, { namespace: 'a', name: 'd' }, 'status'),
    '/apis/apps/v1/namespaces/a/deployments/d/status',
  ],
  [resourcePath(NODES, { name: '../x' }), '/api/v1/nodes/..%2Fx'],
])('%s', (path, expected) => {
  expect(path).toBe(expected);
});

it('formats apiVersion and resource names like Kubernetes', () => {
  expect([apiVersionOf(NODES), apiVersionOf(DEPLOYMENTS)]).toEqual(['v1', 'apps/v1']);
  expect([resourceName(NODES), resourceName(DEPLOYMENTS)]).toEqual(['nodes', 'deployments.apps']);
});

it('a key identifies an object and can be parsed', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9.-]*$/);
  fc.assert(
    fc.property(name, fc.option(name, { nil: undefined }), (objectName, namespace) => {
      const metadata = { name: objectName, ...(namespace === undefined ? {} : { namespace }) };
      expect(refOfKey(keyOf({ metadata }))).toEqual(metadata);
    }),
  );
});

const before = { metadata: { generation: 1, uid: 'a' } };

describe('two states of an object', () => {
  it.each([
    ['nothing differs', {}, true],
    ['the metadata', { resourceVersion: '2' }, true],
    ['the spec', { generation: 2 }, false],
    ['deleted and created again', { uid: 'b' }, false],
  ])('%s', (_, change, isSame) => {
    expect(sameSpec(before, { metadata: { ...before.metadata, ...change } })).toBe(isSame);
  });

  it('have not the same spec if that is not known: no earlier state, or no generation', () => {
    expect(sameSpec(undefined, before)).toBe(false);
    const unknown = { metadata: { uid: 'a' } };
    expect(sameSpec(unknown, unknown)).toBe(false);
  });
});
