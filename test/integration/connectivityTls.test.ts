import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1DaemonSet, V1PolicyRule } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { CONNECTIVITY_CHECKS } from '../../src/api/connectivitycheck/connectivityCheck.ts';
import { CONTROLLERS } from '../../src/controllers/registry.ts';
import { isNotFound } from '../../src/runtime/client/errors.ts';
import type { KubeObject, ObjectRef, Resource } from '../../src/runtime/client/resource.ts';
import { CONFIG_MAPS, DAEMONSETS, DEPLOYMENTS, SERVICES } from '../../src/runtime/client/resources.ts';
import { createAuthority } from '../../src/runtime/testing/certificates.ts';
import { connectivityCheckCrd, installCrd } from '../harness/customResource.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { userWith } from './rights.ts';

/** The process of the operator deploys the connectivity check with TLS, and gives its agents the CA of the server. */
const WAIT = { timeout: 90_000, interval: 200 };
const AGENTS = 'default-connectivity';
const DEPLOY = ['--namespace=default', '--connectivity', '--connectivity-image=ours:1'];
const CERTIFICATE_ARGUMENT = '--tls-cert-path=/etc/traffic-operator/certificate';
const CA_ARGUMENT = '--server-ca-file=/var/run/secrets/traffic-operator/server-ca.crt';
const [first, second] = ['first', 'second'].map((name) => createAuthority(name).cert) as [string, string];

/** A user. */
const OLDER = 'older';

let f: Fixture;
let directory: string;
let file: string;
let withTls: readonly string[];

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'] });
  await installCrd(f.client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
  directory = await mkdtemp(join(tmpdir(), 'traffic-server-ca-'));
  file = join(directory, 'ca.crt');
  withTls = [...DEPLOY, '--connectivity-tls-secret=server-tls', `--connectivity-server-ca-file=${file}`];
});
afterAll(async () => {
  await f.stop();
  await rm(directory, { recursive: true, force: true });
});

async function find<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): Promise<T | undefined> {
  return f.client.get(resource, ref).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

const agents = (): Promise<V1DaemonSet | undefined> =>
  find(DAEMONSETS, { namespace: AGENTS, name: 'netchecker-agent-hostnet' });
const agentArgs = async (): Promise<string[] | undefined> => (await agents())?.spec?.template.spec?.containers[0]?.args;
const serverArgs = async (): Promise<string[] | undefined> =>
  (await find(DEPLOYMENTS, { namespace: 'default', name: 'netchecker-server' }))?.spec?.template.spec?.containers[0]
    ?.args;
const sharedCa = async (): Promise<string | undefined> =>
  (await find(CONFIG_MAPS, { namespace: AGENTS, name: 'netchecker-server-ca' }))?.data?.['ca.crt'];
const problems = async (): Promise<number> => (await metricsOf(f.operator())).sum('connectivity_deployment_problems');

const SERVICE = { namespace: 'default', name: 'netchecker-service' };
const service = (): Promise<KubeObject | undefined> => find(SERVICES, SERVICE);

/** A change that the operator corrects makes it reconcile. */
async function reconcile(): Promise<void> {
  await f.client.mergePatch(SERVICES, SERVICE, { metadata: { labels: { app: 'x' } } }, { fieldManager: 'person' });
}

/** The rights of a version before TLS: none to the CA of the server. */
function olderRights(): V1PolicyRule[] {
  return CONTROLLERS.map((each) => each.rights('default').controller)
    .flatMap(({ cluster, own }) => [...cluster, ...own])
    .filter(({ resourceNames = [] }) => !resourceNames.includes('netchecker-server-ca'));
}

it('names the right to the CA that is missing, with TLS', async () => {
  const kubeconfig = await userWith(f, OLDER, olderRights());
  await f.startOperator(withTls, { kubeconfig, until: 'alive' });
  await vi.waitFor(async () => {
    expect(f.operator().log()).toMatch(/configmaps \\"netchecker-server-ca\\" is forbidden/);
    const ready = await fetch(`${f.operator().healthUrl}/readyz?verbose`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('[-]cache of configmaps')]);
  }, WAIT);
  expect(await serverArgs()).toBeUndefined();
  await f.stopOperator();
});

it('needs no right to it, and has no CA to share, without TLS', async () => {
  // Waits until the operator is ready.
  await f.startOperator(DEPLOY, { kubeconfig: await f.controlPlane.user(OLDER) });
  await vi.waitFor(async () => expect(await agentArgs()).toBeDefined(), WAIT);
  expect(await agentArgs()).not.toContain(CA_ARGUMENT);
  expect(await sharedCa()).toBeUndefined();
  expect(await problems()).toBe(0);
  await f.stopOperator();
});

it('reports a CA that cannot be used, and leaves server and agents as they are: agents could not follow', async () => {
  await f.startOperator(withTls);
  await vi.waitFor(async () => expect(await problems()).toBe(1), WAIT);
  expect(f.operator().log()).toContain('Secret server-tls: ca.crt cannot be used');
  // What does not depend on the CA is corrected: the reconcile went on, and left the others alone.
  await reconcile();
  await vi.waitFor(async () => expect((await service())?.metadata?.labels?.app).not.toBe('x'), WAIT);
  expect(await serverArgs()).not.toContain(CERTIFICATE_ARGUMENT);
  expect(await agentArgs()).not.toContain(CA_ARGUMENT);
  expect(await sharedCa()).toBeUndefined();
});

it('gives it to the agents once it is there, and a renewed one later', async () => {
  await writeFile(file, first);
  await reconcile();
  await vi.waitFor(async () => {
    expect(await sharedCa()).toBe(first);
    expect(await agentArgs()).toContain(CA_ARGUMENT);
    expect(await serverArgs()).toContain(CERTIFICATE_ARGUMENT);
    expect(await problems()).toBe(0);
  }, WAIT);
  await writeFile(file, `${first}${second}`);
  await reconcile();
  await vi.waitFor(async () => expect(await sharedCa()).toBe(`${first}${second}`), WAIT);
});

it('keeps the one that it shared while the file is broken', async () => {
  await writeFile(file, 'broken');
  await reconcile();
  await vi.waitFor(async () => expect(await problems()).toBe(1), WAIT);
  expect(await sharedCa()).toBe(`${first}${second}`);
  expect(await agentArgs()).toContain(CA_ARGUMENT);
  await f.stopOperator();
});

it('removes it without TLS', async () => {
  await f.startOperator(DEPLOY);
  await vi.waitFor(async () => {
    expect(await sharedCa()).toBeUndefined();
    expect(await agentArgs()).not.toContain(CA_ARGUMENT);
    expect(await serverArgs()).not.toContain(CERTIFICATE_ARGUMENT);
  }, WAIT);
});
