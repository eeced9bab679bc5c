import type { V1ManagedFieldsEntry } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { FIELD_MANAGER } from '../names.ts';
import { driftText } from './act.ts';

const manages = (manager: string, ...fields: string[]): V1ManagedFieldsEntry => ({
  ...{ manager, operation: 'Update' },
  fieldsV1: { 'f:spec': Object.fromEntries(fields.map((field) => [`f:${field}`, {}])) },
});
const PATHS = ['.spec.replicas', '.spec.paused'];

function text(managedFields: V1ManagedFieldsEntry[], paths = PATHS, fieldManager?: string) {
  const metadata = { namespace: 'shop', name: 'web' };
  const client = { get: () => Promise.resolve({ metadata: { ...metadata, managedFields } }) };
  return driftText(client as unknown as Client, { resource: DEPLOYMENTS, object: { metadata }, fieldManager }, paths);
}

it.each<[string, V1ManagedFieldsEntry[], string | undefined]>([
  [
    'one manager',
    [manages('person', 'replicas', 'paused')],
    'the field manager person had changed .spec.replicas, .spec.paused',
  ],
  [
    'several',
    [manages('b', 'replicas'), manages('a', 'paused'), manages('c', 'strategy')],
    'the field managers a, b had changed .spec.replicas, .spec.paused',
  ],
  [
    'somebody who has removed a field',
    [manages('c', 'strategy')],
    'an unknown field manager had changed .spec.replicas, .spec.paused',
  ],
  [
    'nobody for a field that is still ours',
    [manages(FIELD_MANAGER, 'replicas'), manages('a', 'paused')],
    'the field manager a had changed .spec.paused',
  ],
  ['nobody, if all are', [manages(FIELD_MANAGER, 'replicas', 'paused'), manages('a', 'strategy')], undefined],
])('names %s', async (_, managedFields, told) => {
  expect(await text(managedFields)).toBe(told && `Deployment shop/web: ${told}`);
});

it('names three fields at most', async () => {
  const fields = ['a', 'b', 'c', 'd', 'e'];
  const told = 'Deployment shop/web: the field manager x had changed .spec.a, .spec.b, .spec.c and 2 more';
  expect(
    await text(
      [manages('x', ...fields)],
      fields.map((field) => `.spec.${field}`),
    ),
  ).toBe(told);
});

it('knows the field manager of a built-in component', async () => {
  expect(await text([manages('measurement', 'replicas', 'paused')], PATHS, 'measurement')).toBeUndefined();
});

it('says nothing if the object is gone or cannot be read', async () => {
  const member = { resource: DEPLOYMENTS, object: { metadata: { namespace: 'shop', name: 'web' } } };
  for (const status of [404, 403]) {
    const refused = new ApiError({ status, reason: 'NotFound', method: 'GET', path: '' });
    const client = { get: () => Promise.reject(refused) } as unknown as Client;
    expect(await driftText(client, member, PATHS)).toBeUndefined();
  }
});
