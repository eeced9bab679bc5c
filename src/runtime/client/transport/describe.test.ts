import { expect, it } from 'vitest';
import { describeRequest } from './describe.ts';
import type { TransportRequest } from './types.ts';

it.each<[TransportRequest['method'], string, string, string]>([
  ['GET', '/api/v1/nodes', 'list', 'nodes'],
  ['GET', '/api/v1/nodes/n1', 'get', 'nodes'],
  ['PATCH', '/api/v1/nodes/n1', 'patch', 'nodes'],
  ['GET', '/api/v1/namespaces', 'list', 'namespaces'],
  ['GET', '/api/v1/namespaces/a', 'get', 'namespaces'],
  ['POST', '/api/v1/namespaces/a/pods', 'create', 'pods'],
  ['GET', '/apis/apps/v1/namespaces/a/deployments', 'list', 'deployments.apps'],
  ['PUT', '/apis/apps/v1/namespaces/a/deployments/d', 'update', 'deployments.apps'],
  ['PATCH', '/apis/x.example.com/v1alpha1/namespaces/a/things/t/status', 'patch', 'things.x.example.com/status'],
  ['DELETE', '/apis/apps/v1/namespaces/a/deployments/d', 'delete', 'deployments.apps'],
  ['GET', '/version', 'get', '/version'],
  ['GET', '/apis/chosen-by-a-user.example.com/v1', 'get', '/apis'],
  ['GET', '/api/v7', 'get', '/api'],
])('%s %s is %s %s', (method, path, verb, resource) => {
  expect(describeRequest({ method, path })).toEqual({ verb, resource });
});

it('a GET with watch is a watch', () => {
  expect(describeRequest({ method: 'GET', path: '/api/v1/nodes', query: { watch: true } }).verb).toBe('watch');
  expect(describeRequest({ method: 'GET', path: '/api/v1/nodes', query: { watch: false } }).verb).toBe('list');
});
