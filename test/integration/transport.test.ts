import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1ServiceAccount } from '@kubernetes/client-node';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/runtime/process/clock.ts';
import type { TransportOptions } from '../../src/runtime/client/transport.ts';
import { CONFIG_MAPS, SERVICE_ACCOUNTS } from '../../src/runtime/client/resources.ts';
import { connectionsTo, watchConnectionsTo } from './connections.ts';
import { startControlPlane } from '../harness/controlPlane.ts';
import type { ControlPlane } from '../harness/controlPlane.ts';
import { configMap, connect, observe } from '../harness/runtimeScene.ts';
import type { Connected } from '../harness/runtimeScene.ts';
import { SLACK } from '../harness/slack.ts';

let plane: ControlPlane;
let port: number;
const cleanUps: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  plane = await startControlPlane();
  port = Number(new URL(plane.url).port);
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});
afterAll(() => plane.stop());

function connected(options?: Partial<TransportOptions>): Connected {
  const made = connect(plane, options);
  cleanUps.push(() => made.transport.close());
  return made;
}

describe('the verbs', () => {
  it('do what they say', async () => {
    const { client } = connected();
    const ref = { namespace: 'default', name: 'verbs' };
    const created = await client.create(CONFIG_MAPS, configMap('default', 'verbs', 'one'));
    expect(created.metadata?.uid).toBeDefined();

    await client.apply(CONFIG_MAPS, configMap('default', 'verbs', 'two'), { fieldManager: 'me', force: true });
    await client.mergePatch(CONFIG_MAPS, ref, { data: { more: 'x' } }, { fieldManager: 'me' });
    expect((await client.get(CONFIG_MAPS, ref)).data).toEqual({ text: 'two', more: 'x' });
    expect((await client.list(CONFIG_MAPS, { namespace: 'default' })).map(({ metadata }) => metadata?.name)).toContain(
      'verbs',
    );

    await client.delete(CONFIG_MAPS, ref, { preconditions: { uid: created.metadata!.uid! } });
    await client.delete(CONFIG_MAPS, ref);
    await expect(client.get(CONFIG_MAPS, ref)).rejects.toMatchObject({ status: 404, reason: 'NotFound' });
  });

  it('say in the server’s words why something was refused', async () => {
    const { client } = connected();
    await client.apply(CONFIG_MAPS, configMap('default', 'mine', 'one'), { fieldManager: 'me' });

    await expect(
      client.apply(CONFIG_MAPS, configMap('default', 'mine', 'two'), { fieldManager: 'other' }),
    ).rejects.toMatchObject({
      status: 409,
      reason: 'Conflict',
      causes: [{ field: '.data.text', reason: 'FieldManagerConflict' }],
    });
    await expect(client.create(CONFIG_MAPS, configMap('default', 'Not A Name'))).rejects.toMatchObject({
      status: 422,
      reason: 'Invalid',
      causes: [{ field: 'metadata.name' }],
    });
    await expect(client.create(CONFIG_MAPS, configMap('nowhere', 'x'))).rejects.toThrow(/namespaces "nowhere"/);
  });
});

it('three connections carry 10 informers, 100 calls at once and the lease', async () => {
  const { transport, client, metrics } = connected();
  const stopCounting = watchConnectionsTo(port);
  const observed = Array.from({ length: 10 }, () => observe(transport, 'default'));
  cleanUps.push(() => Promise.all(observed.map((each) => each.stop())));

  await Promise.all([
    ...observed.map(({ informer }) => informer.whenSynced()),
    ...Array.from({ length: 100 }, (_, n) => client.create(CONFIG_MAPS, configMap('default', `many-${n}`))),
    transport.request({ method: 'GET', path: '/apis/coordination.k8s.io/v1/leases', lane: 'lease' }),
  ]);

  expect(connectionsTo(port)).toBe(3);
  expect(stopCounting()).toBe(3);
  expect(metrics.opened.sort()).toEqual(['call', 'lease', 'watch']);
  for (const { lists } of observed) expect(lists).toEqual(['watch-list']);
});

it('a call that meets a stopped API server is answered soon after it goes on', async () => {
  const { client } = connected();
  await client.list(CONFIG_MAPS);
  process.kill(plane.pids.apiServer, 'SIGSTOP');
  const call = client.list(CONFIG_MAPS);
  await new Promise((resolve) => setTimeout(resolve, 12_000));
  process.kill(plane.pids.apiServer, 'SIGCONT');
  const goesOn = performance.now();

  await call;

  expect(performance.now() - goesOn).toBeLessThan(SLACK * 5_000);
  expect(connectionsTo(port)).toBe(1);
});

describe('a service account’s token in a file', () => {
  interface Account {
    connected: Connected;
    tokenFile: string;
    token(name: string): Promise<string>;
    whoAmI(): Promise<string>;
  }

  /** Files are looked at before calls only. */
  async function accountCalled(first: string, options?: Partial<TransportOptions>): Promise<Account> {
    const admin = connected();
    const token = async (name: string): Promise<string> => {
      const account: V1ServiceAccount = { metadata: { name, namespace: 'default' } };
      await admin.client.create(SERVICE_ACCOUNTS, account);
      const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`;
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
      const made = await admin.transport.request<{ status: { token: string } }>({ method: 'POST', path, body });
      return made.status.token;
    };
    const tokenFile = join(plane.directory, `token-${first}`);
    writeFileSync(tokenFile, await token(first));
    const kubeConfig = new KubeConfig();
    const ca = readFileSync(join(plane.directory, 'ca.crt')).toString('base64');
    kubeConfig.loadFromClusterAndUser(
      { name: 'c', server: plane.url, caData: ca, skipTLSVerify: false },
      { name: 'u', authProvider: { name: 'tokenFile', config: { tokenFile } } },
    );
    const made = connected({ kubeConfig, credentialsIntervalMs: 600_000, ...options });
    const whoAmI = async (): Promise<string> => {
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const answer = await made.transport.request<{ status: { userInfo: { username: string } } }>({
        method: 'POST',
        path,
        body,
      });
      return answer.status.userInfo.username;
    };
    return { connected: made, tokenFile, token, whoAmI };
  }

  it('that changes is used by the very next call', async () => {
    const account = await accountCalled('before');
    expect(await account.whoAmI()).toBe('system:serviceaccount:default:before');
    writeFileSync(account.tokenFile, await account.token('after'));
    // Calls share a look for 50 ms.
    await new Promise((resolve) => setTimeout(resolve, 60));

    expect(await account.whoAmI()).toBe('system:serviceaccount:default:after');

    expect(account.connected.metrics.attempts.map(({ code }) => code)).toEqual(['201', '201']);
  });

  it('that has ended is read again at once: no call fails even then', async () => {
    // The clock stands still, so that the look of the first call is shared by all, and none finds the new token.
    const account = await accountCalled('ended', { clock: new FakeClock() });
    await account.whoAmI();
    writeFileSync(account.tokenFile, await account.token('next'));
    await connected().client.delete(SERVICE_ACCOUNTS, { namespace: 'default', name: 'ended' });

    // The API server remembers a good token for 10 s.
    while ((await account.whoAmI()) !== 'system:serviceaccount:default:next') {
      await new Promise((resolve) => setTimeout(resolve, 500));
    }

    const codes = account.connected.metrics.attempts.map(({ code }) => code);
    expect(codes.filter((code) => code !== '201')).toEqual(['401']);
  });
});
