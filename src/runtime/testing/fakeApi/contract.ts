import type { V1ConfigMap, V1Deployment } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import type { Client, JsonPatchOperation } from '../../client/client.ts';
import { CONFIG_MAPS, DEPLOYMENTS } from '../../client/resources.ts';

const ours = { fieldManager: 'ours' };
const theirs = { fieldManager: 'theirs' };

function aDeployment(at: object): V1Deployment {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
  return { metadata: { ...at }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
}

/**
 * Defines tests of the API server's behaviour that other tests rely on. They run against the fake and against a real API server, so
 * that a fake that is more lenient fails.
 */
export function apiContract(clientOf: () => Client): void {
  let count = 0;
  const ref = () => ({ namespace: 'default', name: `contract-${++count}` });
  const configMap = (at: object, data: Record<string, string>): V1ConfigMap => ({ metadata: { ...at }, data });
  const get = (at: ReturnType<typeof ref>): Promise<V1ConfigMap> => clientOf().get(CONFIG_MAPS, at);
  const apply = (at: object, data: Record<string, string>, options: { fieldManager: string; force?: boolean }) =>
    clientOf().apply(CONFIG_MAPS, configMap(at, data), options);

  describe('server-side apply', () => {
    it('creates, and removes fields that it no longer applies and no other manager owns', async () => {
      const at = ref();
      await apply(at, { a: '1', b: '2' }, ours);
      await apply(at, { b: '2', c: '3' }, theirs);
      await apply(at, { a: '1' }, ours);
      expect((await get(at)).data).toEqual({ a: '1', b: '2', c: '3' });
      await apply(at, { c: '3' }, theirs);
      expect((await get(at)).data).toEqual({ a: '1', c: '3' });
    });

    it('refuses another value for a field that another manager owns, until it is forced', async () => {
      const at = ref();
      await apply(at, { a: '1' }, theirs);
      const refused = apply(at, { a: '2' }, ours);
      await expect(refused).rejects.toMatchObject({ status: 409, reason: 'Conflict' });
      await expect(refused).rejects.toMatchObject({
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "theirs"', field: '.data.a' }],
      });
      await apply(at, { a: '2' }, { ...ours, force: true });
      await apply(at, {}, theirs);
      expect((await get(at)).data).toEqual({ a: '2' });
    });

    it('to an object without owners conflicts with all its fields, which stay when the apply is forced', async () => {
      const at = ref();
      await apply(at, { a: '1', b: '2' }, theirs);
      await clientOf().mergePatch(CONFIG_MAPS, at, { metadata: { managedFields: [{}] } }, ours);
      const conflict = {
        reason: 'FieldManagerConflict',
        message: 'conflict with "before-first-apply"',
        field: '.data.a',
      };
      const refused = apply(at, { a: '2' }, ours);
      await expect(refused).rejects.toMatchObject({ status: 409 });
      await expect(refused).rejects.toHaveProperty('causes', [
        { ...conflict, message: expect.stringContaining(conflict.message) as string },
      ]);
      await apply(at, { a: '2' }, { ...ours, force: true });
      expect((await get(at)).data).toEqual({ a: '2', b: '2' });
    });

    it('keeps the owner references of others, and removes its own', async () => {
      const at = ref();
      const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid });
      const owned = (by: { fieldManager: string }, ...uids: string[]) =>
        clientOf().apply(CONFIG_MAPS, { metadata: { ...at, ownerReferences: uids.map(owner) } }, by);
      const uids = async () => (await get(at)).metadata?.ownerReferences?.map(({ uid }) => uid).sort();
      await owned(theirs, 'a');
      await owned(ours, 'b');
      expect(await uids()).toEqual(['a', 'b']);
      await owned(theirs);
      expect(await uids()).toEqual(['b']);
    });

    it('that changes nothing makes no new version', async () => {
      const at = ref();
      const first = await apply(at, { a: '1' }, ours);
      const again = await apply(at, { a: '1' }, ours);
      expect(again.metadata?.resourceVersion).toBe(first.metadata?.resourceVersion);
    });
  });

  describe('a merge patch', () => {
    const patch = (at: ReturnType<typeof ref>, body: unknown) => clientOf().mergePatch(CONFIG_MAPS, at, body, ours);

    it('sets and removes fields, and the object has a new version', async () => {
      const at = ref();
      const before = await clientOf().create(CONFIG_MAPS, configMap(at, { a: '1', b: '2' }), theirs);
      const after = await patch(at, { data: { a: null, b: '3' } });
      expect(after.data).toEqual({ b: '3' });
      expect(after.metadata?.uid).toBe(before.metadata?.uid);
      expect(after.metadata?.resourceVersion).not.toBe(before.metadata?.resourceVersion);
    });

    it('takes fields from their owner, whose next apply conflicts', async () => {
      const at = ref();
      await apply(at, { a: '1' }, theirs);
      await patch(at, { data: { a: '2' } });
      await expect(apply(at, { a: '1' }, theirs)).rejects.toMatchObject({ status: 409, reason: 'Conflict' });
    });

    it.each([
      ['resourceVersion', 409, 'Conflict'],
      ['uid', 422, 'Invalid'],
    ])('of another %s is refused: %i %s', async (key, status, reason) => {
      const at = ref();
      await apply(at, { a: '1' }, ours);
      const refused = patch(at, { metadata: { [key]: '1' }, data: { a: '2' } });
      await expect(refused).rejects.toMatchObject({ status, reason });
    });

    it('of what is not there is refused', async () => {
      await expect(patch(ref(), { data: {} })).rejects.toMatchObject({ status: 404, reason: 'NotFound' });
    });
  });

  describe('a JSON patch', () => {
    const patch = (at: ReturnType<typeof ref>, ...operations: readonly JsonPatchOperation[]) =>
      clientOf().jsonPatch(CONFIG_MAPS, at, operations, ours);

    it('changes the field owners that it tests, and keeps the other field owners', async () => {
      const at = ref();
      await clientOf().create(CONFIG_MAPS, configMap(at, { a: '1' }), ours);
      const { metadata } = await clientOf().mergePatch(CONFIG_MAPS, at, { data: { b: '2' } }, theirs);
      const { managedFields = [], uid } = metadata ?? {};
      const n = managedFields.findIndex(({ manager }) => manager === 'ours');
      await apply(at, { c: '3' }, { fieldManager: 'meanwhile' });
      const now = (await get(at)).metadata?.managedFields ?? [];
      const place = `/metadata/managedFields/${now.findIndex(({ manager }) => manager === 'ours')}`;
      // Whatever was written since does not count.
      const after = await patch(
        at,
        ...[{ op: 'test', path: '/metadata/uid', value: uid } as const],
        ...[{ op: 'test', path: place, value: managedFields[n] } as const, { op: 'remove', path: place } as const],
        { op: 'add', path: '/metadata/managedFields/-', value: { ...managedFields[n], operation: 'Apply' } },
      );
      const owners = (after.metadata?.managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`);
      expect(owners.sort()).toEqual(['meanwhile Apply', 'ours Apply', 'theirs Update']);
    });

    it.each([
      ['a value that differs', { op: 'test', path: '/data/a', value: '2' }],
      ['a field that is not there', { op: 'remove', path: '/data/x' }],
    ] as const)('is refused as a whole for %s', async (_, operation) => {
      const at = ref();
      await apply(at, { a: '1' }, ours);
      const refused = patch(at, { op: 'add', path: '/data/b', value: '2' }, operation);
      await expect(refused).rejects.toMatchObject({ status: 422 });
      expect((await get(at)).data).toEqual({ a: '1' });
    });

    it('of what is not there is refused', async () => {
      await expect(patch(ref())).rejects.toMatchObject({ status: 404, reason: 'NotFound' });
    });
  });

  describe('a status', () => {
    it('is changed by a patch of the status alone, which changes nothing else', async () => {
      const at = ref();
      const before = await clientOf().create(DEPLOYMENTS, aDeployment(at), ours);
      const body = { spec: { paused: true }, status: { observedGeneration: 7 } };
      await clientOf().mergePatch(DEPLOYMENTS, at, body, { ...ours, subresource: 'status' });
      const { spec, status, metadata } = await clientOf().get(DEPLOYMENTS, at);
      expect([spec?.paused, status?.observedGeneration]).toEqual([undefined, 7]);
      expect(metadata?.generation).toBe(before.metadata?.generation);
      const after = await clientOf().mergePatch(DEPLOYMENTS, at, { ...body, status: { observedGeneration: 8 } }, ours);
      expect([after.spec?.paused, after.status?.observedGeneration]).toEqual([true, 7]);
      expect(after.metadata?.generation).toBe(2);
    });
  });

  describe('a status in what is written to the main resource', () => {
    const withStatus = (at: object, observedGeneration: number): V1Deployment => ({
      ...aDeployment(at),
      status: { observedGeneration },
    });

    it('is not stored by a create', async () => {
      const at = ref();
      const created = await clientOf().create(DEPLOYMENTS, withStatus(at, 7), ours);
      expect(created.status?.observedGeneration).toBeUndefined();
      expect((await clientOf().get(DEPLOYMENTS, at)).status?.observedGeneration).toBeUndefined();
    });

    it('is not stored by an apply, and the writer does not own it', async () => {
      const at = ref();
      await clientOf().apply(DEPLOYMENTS, withStatus(at, 7), ours);
      const status = { observedGeneration: 8 };
      await clientOf().mergePatch(DEPLOYMENTS, at, { status }, { ...theirs, subresource: 'status' });
      await clientOf().apply(DEPLOYMENTS, withStatus(at, 9), ours);
      expect((await clientOf().get(DEPLOYMENTS, at)).status?.observedGeneration).toBe(8);
    });
  });

  it('a call whose signal is aborted is rejected, and writes nothing', async () => {
    const at = ref();
    const signal = AbortSignal.abort();
    const aborted = { name: 'TransportError', failure: 'aborted' };
    await expect(clientOf().create(CONFIG_MAPS, configMap(at, {}), { ...ours, signal })).rejects.toMatchObject(aborted);
    await expect(clientOf().get(CONFIG_MAPS, at, { signal })).rejects.toMatchObject(aborted);
    await expect(get(at)).rejects.toMatchObject({ status: 404 });
  });

  it('an object that is changed after a call changes nothing in the API server', async () => {
    const at = ref();
    const sent = configMap(at, { a: '1' });
    const created = await clientOf().create(CONFIG_MAPS, sent, ours);
    for (const object of [sent, created, await get(at)]) object.data!.a = '2';
    const [listed] = await clientOf().list(CONFIG_MAPS, { ...at, fieldSelector: `metadata.name=${at.name}` });
    listed!.data!.a = '2';
    expect((await get(at)).data).toEqual({ a: '1' });
  });

  describe('a deletion', () => {
    it('waits for finalizers, and ends with the last', async () => {
      const at = ref();
      const held = { ...at, finalizers: ['example.com/held'] };
      await clientOf().create(CONFIG_MAPS, configMap(held, {}), ours);
      await clientOf().delete(CONFIG_MAPS, at);
      expect((await get(at)).metadata?.deletionTimestamp).toBeDefined();
      await clientOf().mergePatch(CONFIG_MAPS, at, { metadata: { finalizers: null } }, ours);
      await expect(get(at)).rejects.toMatchObject({ status: 404 });
    });

    it.each(['uid', 'resourceVersion'])('of another %s is refused', async (key) => {
      const at = ref();
      await apply(at, {}, ours);
      const refused = clientOf().delete(CONFIG_MAPS, at, { preconditions: { [key]: '1' } });
      await expect(refused).rejects.toMatchObject({ status: 409, reason: 'Conflict' });
      const { metadata } = await get(at);
      const { uid, resourceVersion } = metadata ?? {};
      await clientOf().delete(CONFIG_MAPS, at, { preconditions: { uid: uid!, resourceVersion: resourceVersion! } });
      await expect(get(at)).rejects.toMatchObject({ status: 404 });
    });

    it('of what is not there succeeds', async () => {
      await expect(clientOf().delete(CONFIG_MAPS, ref(), { preconditions: { uid: '1' } })).resolves.toBeUndefined();
    });
  });

  it('a second object of a name is refused', async () => {
    const at = ref();
    await clientOf().create(CONFIG_MAPS, configMap(at, {}), ours);
    const refused = clientOf().create(CONFIG_MAPS, configMap(at, {}), ours);
    await expect(refused).rejects.toMatchObject({ status: 409, reason: 'AlreadyExists' });
  });

  it('a list has what its selectors choose', async () => {
    const labelled = async (labels: Record<string, string>): Promise<string> => {
      const at = ref();
      await clientOf().create(CONFIG_MAPS, configMap({ ...at, labels }, {}), ours);
      return at.name;
    };
    const [both, one] = [await labelled({ contract: 'a', extra: '' }), await labelled({ contract: 'a' })];
    await labelled({ contract: 'b' });
    const names = async (labelSelector: string, fieldSelector?: string): Promise<(string | undefined)[]> => {
      const options = {
        namespace: 'default',
        labelSelector,
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
      };
      return (await clientOf().list(CONFIG_MAPS, options)).map(({ metadata }) => metadata?.name);
    };
    expect(await names('contract=a')).toEqual([both, one]);
    expect(await names('contract,contract!=b,extra')).toEqual([both]);
    expect(await names('contract=a,!extra')).toEqual([one]);
    expect(await names('contract=a', `metadata.name=${one}`)).toEqual([one]);
  });
}
