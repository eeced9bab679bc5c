import type { V1OwnerReference } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { findOperatorDeployment } from './operator.ts';
import { FakeApi, refusal } from '../../../runtime/testing/fakeApi/fakeApi.ts';

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
  it('finds the Deployment by way of the ReplicaSet, as an owner that controls nothing', async () => {
    const owner = await findOperatorDeployment(new FakeApi(POD, REPLICA_SET), POD_REF);
    expect(owner).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'operator', uid: 'uid of operator' });
  });

  it.each([
    ['outside of a cluster', new FakeApi(), undefined],
    ['when the pod is gone', new FakeApi(), POD_REF],
    ['when the pod stands alone', new FakeApi(object('Pod', 'operator-5d-x')), POD_REF],
    ['when the ReplicaSet stands alone', new FakeApi(POD, object('ReplicaSet', 'operator-5d')), POD_REF],
  ])('finds none %s', async (_, client, ref) => {
    expect(await findOperatorDeployment(client, ref)).toBeUndefined();
  });

  it('finds none where it may not look, so that measuring does not hang on it', async () => {
    const client = new FakeApi(POD, REPLICA_SET);
    client.intercept = (call) => Promise.reject(refusal(call, 403, 'Forbidden'));
    expect(await findOperatorDeployment(client, POD_REF)).toBeUndefined();
  });
});
