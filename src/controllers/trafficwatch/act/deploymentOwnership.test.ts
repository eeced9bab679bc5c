import type { V1Deployment, V1ManagedFieldsEntry } from '@kubernetes/client-node';
import { beforeEach, describe, expect, it } from 'vitest';
import { APPLIED_HASH_ANNOTATION, appliedHash, NOT_APPLIED_YET } from '../../../runtime/apply/apply.ts';
import { ApiError, WaitingError } from '../../../runtime/client/errors.ts';
import { keyOf, refOfKey } from '../../../runtime/client/resource.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { FakeApi } from '../../../runtime/testing/fakeApi/fakeApi.ts';
import { entryOf, fieldsOf } from '../../../runtime/testing/fakeApi/fieldOwners.ts';
import { renderDeployment } from '../decide/deployment.ts';
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

const CONFLICT = new ApiError({ status: 409, reason: 'Conflict', method: 'PATCH', path: '/x' });

/** The Deployment on the API server. Without `hash`, another controller created it. */
function live(managedFields: V1ManagedFieldsEntry[], hash?: string, spec: object = {}): V1Deployment {
  const { metadata, spec: rendered } = desired();
  const annotations = hash === undefined ? {} : { annotations: { [APPLIED_HASH_ANNOTATION]: hash } };
  const identity = { uid: 'uid-deployment', resourceVersion: '7' };
  return {
    metadata: { ...metadata, ...identity, ...annotations, managedFields },
    spec: { ...rendered!, ...spec },
  };
}

const withVersion = (deployment: V1Deployment, resourceVersion: string): V1Deployment => ({
  ...deployment,
  metadata: { ...deployment.metadata, resourceVersion },
});

/** The Deployment in the cache, which drops managedFields. */
const cached = ({ metadata, spec }: V1Deployment): V1Deployment => ({
  metadata: { ...metadata, managedFields: undefined },
  spec,
});

describe('ownersBefore', () => {
  it('takes over from the controller that wrote our owner reference, except replicas that the spec lacks', () => {
    expect(ownersBefore(desired(), live([old, person]), 'ours')).toEqual([
      person,
      entry('ours', 'Apply', { 'f:metadata': reference, 'f:spec': { 'f:selector': {} } }),
    ]);
  });

  it('takes over replicas that the spec has', () => {
    const [, ours] = ownersBefore(desired({ replicas: 3 }), live([old, person]), 'ours');
    expect(ours?.fieldsV1).toMatchObject({ 'f:spec': { 'f:replicas': {} } });
  });

  it('changes nothing the second time, if the apply after it failed', () => {
    const once = ownersBefore(desired(), live([old, person]), 'ours');
    expect(ownersBefore(desired(), live([...once]), 'ours')).toEqual(once);
  });
});

describe('prepareOwnership', () => {
  let api: FakeApi;
  /** Puts the Deployment into the cluster, and prepares it as the cache has it. */
  const prepare = (wanted: V1Deployment, found: V1Deployment): Promise<void> => {
    put(found);
    return prepareOwnership(api, 'ours', wanted, cached(found));
  };
  const put = (found: V1Deployment): void => void api.objects.set(`Deployment ${keyOf(found)}`, found);
  const verbs = (): string[] => api.calls.map(({ verb, what }) => `${verb} ${what}`);
  const sent = (verb: string): unknown[] => api.calls.filter((call) => call.verb === verb).map(({ body }) => body);
  const stored = () => api.object(DEPLOYMENTS, refOfKey(keyOf(desired())))?.metadata?.managedFields;
  /** Called before each patch is answered, with its number. */
  const beforePatch = (act: (n: number) => Promise<never> | undefined): void => {
    api.intercept = ({ verb }) => (verb === 'patch' ? act(sent('patch').length) : undefined);
  };
  beforeEach(() => {
    api = new FakeApi();
  });

  it.each([
    ['drift is corrected', desired(), live([old], appliedHash(desired()))],
    ['the edited spec still has replicas', desired({ replicas: 2 }), live([old], 'another')],
    [
      'the strategy is already Recreate',
      desired({ strategy: { type: 'Recreate' }, replicas: 2 }),
      live([old], 'another'),
    ],
  ])('sends no request if %s', async (_why, wanted, found) => {
    await prepare(wanted, found);
    expect(api.calls).toEqual([]);
  });

  it('GETs the Deployment and writes nothing if managedFields are correct', async () => {
    await prepare(desired(), live([person], 'another'));
    expect(verbs()).toEqual(['get Deployment']);
  });

  it('does not GET a Deployment that was just created, and takes its fields over at once', async () => {
    const made = live([{ ...old, manager: 'ours' }]);
    put(made);
    await prepareOwnership(api, 'ours', desired(), made);
    const owners = [entry('ours', 'Apply', { 'f:metadata': reference, 'f:spec': { 'f:selector': {} } })];
    expect(verbs()).toEqual(['patch Deployment']);
    expect(sent('patch')).toEqual([
      [
        { op: 'test', path: '/metadata/uid', value: 'uid-deployment' },
        { op: 'test', path: '/metadata/managedFields/0', value: { ...old, manager: 'ours' } },
        { op: 'remove', path: '/metadata/managedFields/0' },
        { op: 'add', path: '/metadata/managedFields/-', value: owners[0] },
      ],
    ]);
    expect(stored()).toEqual(owners);
  });

  it('also takes the fields over of one that was created, and whose first apply did not follow', async () => {
    const wanted = desired({ replicas: 2 });
    await prepare(wanted, live([{ ...old, manager: 'ours' }], NOT_APPLIED_YET));
    expect(verbs()).toEqual(['get Deployment', 'patch Deployment']);
    expect(stored()).toMatchObject([{ manager: 'ours', operation: 'Apply' }]);
  });

  it('is not disturbed by writes of others meanwhile, such as of a status, and keeps their fields', async () => {
    const status = { ...entry('kube-controller-manager', 'Update', { 'f:status': {} }), subresource: 'status' };
    beforePatch(() => {
      put(withVersion(live([old, status]), '8'));
      return undefined;
    });
    await prepare(desired(), live([old]));
    expect(verbs()).toEqual(['get Deployment', 'patch Deployment']);
    expect(stored()).toEqual([status, expect.objectContaining({ manager: 'ours', operation: 'Apply' })]);
  });

  it('reads the owners again if others change them, and then the fields of a person stay theirs', async () => {
    const taken = entry('manager', 'Update', { 'f:metadata': reference });
    beforePatch((n) => {
      if (n === 1) put(withVersion(live([taken, person]), '8'));
      return undefined;
    });
    await prepare(desired(), live([old]));
    expect([sent('get').length, sent('patch').length]).toEqual([2, 2]);
    expect(stored()).toEqual([person, entry('ours', 'Apply', { 'f:metadata': reference })]);
  });

  it.each([0, 1, 2])('tries again after %i conflicts in a row', async (conflicts) => {
    beforePatch((n) => (n <= conflicts ? Promise.reject(CONFLICT) : undefined));
    await prepare(desired(), live([old]));
    expect(sent('patch')).toHaveLength(conflicts + 1);
  });

  it('waits after three conflicts in a row: that is no failure', async () => {
    beforePatch(() => Promise.reject(CONFLICT));
    await expect(prepare(desired(), live([old]))).rejects.toThrow(WaitingError);
    expect(sent('patch')).toHaveLength(3);
  });

  it('throws the error of a patch that is refused although nobody has written meanwhile', async () => {
    const refused = new ApiError({ status: 422, reason: 'Invalid', method: 'PATCH', path: '/x' });
    beforePatch(() => Promise.reject(refused));
    await expect(prepare(desired(), live([old]))).rejects.toBe(refused);
    expect(sent('patch')).toHaveLength(2);
  });

  it('first applies only our label if there are no managedFields, so that the API server creates them', async () => {
    const found = live([]);
    const writer = { manager: 'ours', operation: 'Apply', apiVersion: 'apps/v1' } as const;
    await prepare(desired(), found);
    expect(verbs()).toEqual(['get Deployment', 'apply Deployment', 'patch Deployment']);
    const [bare] = sent('apply');
    expect(Object.keys(bare as object).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    expect(stored()).toEqual([entryOf(writer, fieldsOf(found))]);
  });

  it('does not touch a Deployment that replaced the known one', async () => {
    for (const found of [live([old]), live([])]) {
      put({ ...found, metadata: { ...found.metadata, uid: 'another' } });
      await expect(prepareOwnership(api, 'ours', desired(), cached(found))).rejects.toThrow(WaitingError);
    }
    expect(verbs()).toEqual(['get Deployment', 'get Deployment']);
  });
});
