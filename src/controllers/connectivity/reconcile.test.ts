import { describe, expect, it } from 'vitest';
import { CONNECTIVITY_CHECKS } from '../../api/connectivitycheck/connectivityCheck.ts';
import { readFlags } from '../../options/readFlags.ts';
import { DEPLOYMENTS } from '../../runtime/client/resources.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import { FakeApi } from '../../runtime/testing/fakeApi/fakeApi.ts';
import { SHARED_FLAGS } from '../contract/flags.ts';
import { stackOwnershipOf } from '../contract/stackOwnership.ts';
import { allComponents, FIELD_MANAGER } from './components/components.ts';
import { deployedByFlags, STACK_TYPES } from './decide/stackGroups.ts';
import { CONNECTIVITY_FLAGS, deploymentOptions } from './flags.ts';
import {
  FIRST_CHECK_ANNOTATION as ANNOTATION,
  createReconcile,
  ensureFirstCheck,
  type ReconcileOptions,
} from './reconcile.ts';

const FLAGS = { ...SHARED_FLAGS, ...CONNECTIVITY_FLAGS };

it('reports what an earlier version has deployed and no stack keeps, by the flag for the stack default', async () => {
  expect(await reported(false)).toEqual([
    'NotKept: the type ConnectivityServer',
    'NotKept: the type ConnectivityAgents',
  ]);
  expect(await reported(true)).toEqual([]);
});

/** The problems of a reconcile while the objects of the check exist, and no TrafficStack does. */
async function reported(hasDefaultStack: boolean): Promise<string[]> {
  const args = ['--connectivity', '--connectivity-image=operator', `--default-stack=${hasDefaultStack}`];
  const options = deploymentOptions(readFlags({ name: 'manager', flags: FLAGS }, args, {}));
  const problems: Problem[] = [];
  const pass = createReconcile({
    ...{ client: {}, options, logger: createLogger('silent') },
    caches: {
      informers: [],
      live: ({ object }: { object: object }) => object,
      // So nothing is written.
      unknownGroups: () => new Set(['agentsNamespace', 'serverCa']),
      refusals: () => [],
    },
    stacks: {
      isRead: true,
      refusals: () => [],
      ownership: () => stackOwnershipOf(STACK_TYPES, [], allComponents(options), deployedByFlags(options)),
    },
    report: { update: (_: string, found: readonly Problem[]) => void problems.push(...found) },
  } as unknown as ReconcileOptions);
  await pass();
  return problems.map(({ reason, object }) => `${reason}: ${object}`);
}

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
