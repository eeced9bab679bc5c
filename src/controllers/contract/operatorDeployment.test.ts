import type { V1OwnerReference } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { findOperatorDeployment } from './deployedSet.ts';
import { FakeApi, refusal } from '../../runtime/testing/fakeApi/fakeApi.ts';

const POD_REF = { namespace: 'op', name: 'operator-5d-x' };

function controlledBy(kind: string, name: string): V1OwnerReference[] {
  return [{ apiVersion: 'apps/v1', kind, name, uid: `uid of ${name}`, controller: true, blockOwnerDeletion: true }];
}

function object(kind: string, name: string, ownerReferences: V1OwnerReference[] = []): KubeObject {
  return { kind, metadata: { namespace: 'op', name, ownerReferences } };
}

const POD = object('Pod', 'operator-5d-x', controlledBy('ReplicaSet', 'operator-5d'));
const REPLICA_SET = object('ReplicaSet', 'operator-5d', controlledBy('Deployment', 'operator'));

describe('findOperatorDeployment', () => {
  it('finds the Deployment through the ReplicaSet, as an owner but not as a controller', async () => {
    const owner = await findOperatorDeployment(new FakeApi(POD, REPLICA_SET), POD_REF);
    expect(owner).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'operator', uid: 'uid of operator' });
  });

  it.each([
    ['outside of a cluster', new FakeApi(), undefined],
    ['if the pod is deleted', new FakeApi(), POD_REF],
    ['if the pod has no ReplicaSet', new FakeApi(object('Pod', 'operator-5d-x')), POD_REF],
    ['if the ReplicaSet has no Deployment', new FakeApi(POD, object('ReplicaSet', 'operator-5d')), POD_REF],
  ])('finds none %s', async (_, client, ref) => {
    expect(await findOperatorDeployment(client, ref)).toBeUndefined();
  });

  it('finds none without the right to read it, so that measuring does not depend on that right', async () => {
    const client = new FakeApi(POD, REPLICA_SET);
    client.intercept = (call) => Promise.reject(refusal(call, 403, 'Forbidden'));
    expect(await findOperatorDeployment(client, POD_REF)).toBeUndefined();
  });
});
