import { describe, expect, it } from 'vitest';
import { CONNECTIVITY_CHECKS } from '../../api/connectivitycheck/connectivityCheck.ts';
import { DEPLOYMENTS } from '../../runtime/client/resources.ts';
import { FakeApi } from '../../runtime/testing/fakeApi/fakeApi.ts';
import { ensureFirstCheck } from './firstCheck.ts';
import { FIELD_MANAGER, FIRST_CHECK_ANNOTATION as ANNOTATION } from './names.ts';

const SERVER = { namespace: 'op', name: 'netchecker-server' };
const MINE = { apiVersion: 'x', kind: CONNECTIVITY_CHECKS.kind, metadata: { name: 'mine' } };
/** Applies the server as this controller does, or as a TrafficStack in its place. */
const applyServer = (api: FakeApi, annotations: Record<string, string> = {}) =>
  api.apply(DEPLOYMENTS, { metadata: { ...SERVER, annotations } }, { fieldManager: FIELD_MANAGER, force: true });
const server = (api: FakeApi) => api.object(DEPLOYMENTS, SERVER);

describe('the first ConnectivityCheck', () => {
  it('is created before there is a server, and noted when there is one', async () => {
    const api = new FakeApi();
    await ensureFirstCheck(api, undefined);
    await applyServer(api);
    await ensureFirstCheck(api, server(api));
    await ensureFirstCheck(api, server(api));
    expect(api.writes.map((write) => write.split(' ').slice(0, 3).join(' '))).toEqual([
      'create ConnectivityCheck default',
      'apply Deployment op/netchecker-server',
      'apply Deployment op/netchecker-server',
    ]);
  });

  it.each<[string, Record<string, string>, readonly (typeof MINE)[], number]>([
    ['none is there: one is created', {}, [], 1],
    ['the user has one: none is needed', {}, [MINE], 1],
    ['it was created, and the user has deleted it', { [ANNOTATION]: 'true' }, [], 0],
    ['an older version has noted it', { [ANNOTATION]: 'done' }, [], 0],
  ])('%s; the note stays when somebody applies the server', async (_, annotations, checks, created) => {
    const api = new FakeApi(...checks);
    await applyServer(api, annotations);
    await ensureFirstCheck(api, server(api));
    expect(await api.list(CONNECTIVITY_CHECKS)).toHaveLength(created);
    // The applies of the version that noted it in the Deployment itself have ended.
    if (annotations[ANNOTATION] !== 'true') await applyServer(api);
    expect(server(api)?.metadata?.annotations).toHaveProperty([ANNOTATION], 'true');
  });
});
