import type { V1Deployment, V1ManagedFieldsEntry } from '@kubernetes/client-node';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { APPLIED_HASH_ANNOTATION, appliedHash } from '../../../runtime/apply/apply.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError, WaitingError } from '../../../runtime/client/errors.ts';
import { renderDeployment } from '../decide/deployment/deployment.ts';
import { ownersBefore, prepareOwnership } from './deploymentOwnership.ts';
import { aWatch, KEY } from '../testing/observations.ts';

const desired = (deployment: Record<string, unknown> = {}) => renderDeployment(aWatch({ deployment }), KEY);
const entry = (manager: string, operation: string, fieldsV1: object): V1ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion: 'apps/v1',
  fieldsType: 'FieldsV1',
  fieldsV1,
});
const reference = { 'f:ownerReferences': { 'k:{"uid":"uid-web"}': {} } };
const old = entry('manager', 'Update', { 'f:metadata': reference, 'f:spec': { 'f:replicas': {}, 'f:selector': {} } });
const person = entry('kubectl-edit', 'Update', { 'f:spec': { 'f:paused': {} } });

/** As the API server has it. Without `hash`: made by another controller. */
function live(managedFields: V1ManagedFieldsEntry[], hash?: string, spec: object = {}): V1Deployment {
  const { metadata, spec: rendered } = desired();
  const annotations = hash === undefined ? {} : { annotations: { [APPLIED_HASH_ANNOTATION]: hash } };
  const identity = { uid: 'uid-deployment', resourceVersion: '7' };
  return {
    metadata: { ...metadata, ...identity, ...annotations, managedFields },
    spec: { ...rendered!, ...spec },
  };
}

/** Caches don't keep owners. */
const cached = ({ metadata, spec }: V1Deployment): V1Deployment => ({
  metadata: { ...metadata, managedFields: undefined },
  spec,
});

describe('ownersBefore', () => {
  it('takes over from the controller that wrote our owner reference, but for replicas that nobody wants', () => {
    expect(ownersBefore(desired(), live([old, person]), 'ours')).toEqual([
      person,
      entry('ours', 'Apply', { 'f:metadata': reference, 'f:spec': { 'f:selector': {} } }),
    ]);
  });

  it('takes over replicas that the spec names', () => {
    const [, ours] = ownersBefore(desired({ replicas: 3 }), live([old, person]), 'ours');
    expect(ours?.fieldsV1).toMatchObject({ 'f:spec': { 'f:replicas': {} } });
  });

  it('finds nothing more to do when the apply behind it had failed', () => {
    const once = ownersBefore(desired(), live([old, person]), 'ours');
    expect(ownersBefore(desired(), live([...once]), 'ours')).toEqual(once);
  });
});

describe('prepareOwnership', () => {
  const get = vi.fn<() => Promise<V1Deployment>>();
  const mergePatch = vi.fn<(...call: unknown[]) => Promise<unknown>>();
  const apply = vi.fn<(...call: unknown[]) => Promise<V1Deployment>>();
  const client = { get, mergePatch, apply } as unknown as Client;
  const prepare = (wanted: V1Deployment, found: V1Deployment) => {
    get.mockResolvedValue(found);
    return prepareOwnership(client, 'ours', wanted, cached(found));
  };
  beforeEach(() => {
    get.mockReset();
    apply.mockReset();
    mergePatch.mockReset().mockResolvedValue({});
  });

  it.each([
    ['drift is put right', desired(), live([old], appliedHash(desired()))],
    ['an edit leaves replicas named', desired({ replicas: 2 }), live([old], 'another')],
    ['Recreate is there already', desired({ strategy: { type: 'Recreate' }, replicas: 2 }), live([old], 'another')],
  ])('asks for nothing when %s', async (_why, wanted, found) => {
    await prepare(wanted, found);
    expect([get.mock.calls, mergePatch.mock.calls]).toEqual([[], []]);
  });

  it('asks, and writes nothing, when the owners are in order', async () => {
    await prepare(desired(), live([person], 'another'));
    expect([get.mock.calls.length, mergePatch.mock.calls.length]).toEqual([1, 0]);
  });

  it('asks nothing of a Deployment that was made just now, and at once makes its fields applied ones', async () => {
    await prepareOwnership(client, 'ours', desired(), live([{ ...old, manager: 'ours' }]));
    const owners = [entry('ours', 'Apply', { 'f:metadata': reference, 'f:spec': { 'f:selector': {} } })];
    const patch = { metadata: { resourceVersion: '7', managedFields: owners } };
    expect(get).not.toHaveBeenCalled();
    expect(mergePatch.mock.calls.map(([, , sent]) => sent)).toEqual([patch]);
  });

  it('writes the owners at the version at which they were read, anew when somebody wrote meanwhile', async () => {
    mergePatch.mockRejectedValueOnce(new ApiError({ status: 409, reason: 'Conflict', method: 'PATCH', path: '/x' }));
    await prepare(desired(), live([old]));
    const owners = [expect.objectContaining({ manager: 'ours', operation: 'Apply' })];
    const patch = { metadata: { resourceVersion: '7', managedFields: owners } };
    expect(mergePatch.mock.calls.map(([, , sent]) => sent)).toEqual([patch, patch]);
    expect(get).toHaveBeenCalledTimes(2);
  });

  it('where no owner is known, applies nothing but our label first, of which the API server makes an owner of all', async () => {
    const all = { 'f:metadata': reference, 'f:spec': { 'f:selector': {} } };
    apply.mockResolvedValue(live([entry('before-first-apply', 'Update', all)]));
    await prepare(desired(), live([]));
    const [, bare] = apply.mock.calls[0] ?? [];
    expect(Object.keys(bare as object).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    const patch = { metadata: { resourceVersion: '7', managedFields: [entry('ours', 'Apply', all)] } };
    expect(mergePatch.mock.calls.map(([, , sent]) => sent)).toEqual([patch]);
  });

  it('leaves a Deployment alone that came in place of the one it knew', async () => {
    for (const found of [live([old]), live([])]) {
      get.mockResolvedValue({ ...found, metadata: { ...found.metadata, uid: 'another' } });
      await expect(prepareOwnership(client, 'ours', desired(), cached(found))).rejects.toThrow(WaitingError);
    }
    expect(mergePatch).not.toHaveBeenCalled();
    expect(apply).not.toHaveBeenCalled();
  });
});
