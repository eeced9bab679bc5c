import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1PodSpec, V1PodTemplateSpec } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { defaultConnectivityOptions } from '../../src/connectivity/objects/names.ts';
import { allComponents } from '../../src/controllers/connectivity/components/components.ts';
import { isNotFound } from '../../src/runtime/client/errors.ts';
import { keyOf, refOfKey, type KubeObject, type ObjectRef, type Resource } from '../../src/runtime/client/resource.ts';
import { DAEMONSETS, DEPLOYMENTS, NAMESPACES, PODS, SERVICES } from '../../src/runtime/client/resources.ts';
import { createAuthority } from '../../src/runtime/testing/certificates.ts';
import { connectivityCheckCrd, installCrd } from '../harness/customResource.ts';
import { CONNECTIVITY_CHECKS } from '../../src/api/connectivitycheck/connectivityCheck.ts';
import { startOperator, type Operator } from '../harness/operator.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { useConnectedPlane } from './connectedPlane.ts';

/** Each object of the connectivity check, as the process of the operator keeps it. */
const WAIT = { timeout: 120_000, interval: 100 };
const PERSON = { fieldManager: 'person', force: true };
const COMPONENTS = allComponents(defaultConnectivityOptions('default')).map(({ resource, object }) => ({
  id: `${resource.kind} ${keyOf(object)}`,
  resource,
  ref: refOfKey(keyOf(object)),
}));
const SERVICE: ObjectRef = { namespace: 'default', name: 'netchecker-service' };
const FOREIGN: readonly { resource: Resource; ref: ObjectRef; spec: object }[] = [
  { resource: SERVICES, ref: SERVICE, spec: { ports: [{ port: 8081 }] } },
  { resource: DEPLOYMENTS, ref: { namespace: 'default', name: 'netchecker-server' }, spec: workload('theirs') },
];
/** The problem that its CRD is not installed, which is met once ours are there and the first ConnectivityCheck is due. */
const NO_CRD = 1;
const FOREIGN_SERVER: ObjectRef = FOREIGN[1]!.ref;

const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client);
  for (const { resource, ref, spec } of FOREIGN) await client.create(resource, { metadata: ref, spec } as KubeObject);
});
let operator: Operator;

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'traffic-server-ca-'));
  const file = join(directory, 'ca.crt');
  await writeFile(file, createAuthority('server').cert);
  // With TLS, so that there is a CA, too.
  const tls = ['--connectivity-tls-secret=server-tls', `--connectivity-server-ca-file=${file}`];
  await startWith('--connectivity', '--connectivity-image=ours:1', ...tls);
});
afterAll(async () => {
  await operator.kill();
  await rm(directory, { recursive: true, force: true });
});

async function startWith(...flags: readonly string[]): Promise<void> {
  const args = ['--namespace=default', ...flags];
  // Nothing listens there: no measurement is needed.
  operator = await startOperator({
    kubeconfig: scene.plane.kubeconfig,
    prometheusUrl: 'http://127.0.0.1:9',
    args,
    until: 'alive',
  });
}

function workload(app: string) {
  const template = { metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  return { selector: { matchLabels: { app } }, template };
}

async function find<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): Promise<T | undefined> {
  return scene.connected.client.get(resource, ref).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

async function present(): Promise<string[]> {
  const found = await Promise.all(
    COMPONENTS.map(async ({ id, resource, ref }) => [id, await find(resource, ref)] as const),
  );
  return found.flatMap(([id, live]) => (live === undefined || live.metadata?.deletionTimestamp ? [] : [id]));
}

const problems = async (): Promise<number> => (await metricsOf(operator)).sum('connectivity_deployment_problems');

describe("somebody else's objects of the same names", () => {
  it('are not taken over and are reported, and ours are deployed beside them', async () => {
    await vi.waitFor(async () => {
      expect(await problems()).toBe(FOREIGN.length);
      expect(await present()).toEqual(COMPONENTS.map(({ id }) => id));
    }, WAIT);
    expect((await find(SERVICES, SERVICE))?.metadata?.labels).toBeUndefined();
    const server = await templateOf(DEPLOYMENTS, FOREIGN_SERVER);
    expect(server?.metadata?.labels).toEqual({ app: 'theirs' });
    expect(operator.log()).toContain('Service default/netchecker-service exists and was not made by this operator');
  });

  it('are replaced by ours once they are gone', async () => {
    for (const { resource, ref } of FOREIGN) await scene.connected.client.delete(resource, ref);
    await vi.waitFor(async () => {
      expect(await problems()).toBe(NO_CRD);
      expect(await present()).toEqual(COMPONENTS.map(({ id }) => id));
      expect((await find(SERVICES, SERVICE))?.metadata?.labels).toMatchObject({ app: 'netchecker-server' });
    }, WAIT);
  });
});

const checks = async (): Promise<(string | undefined)[]> =>
  (await scene.connected.client.list(CONNECTIVITY_CHECKS)).map(({ metadata }) => metadata?.name);

it('the first ConnectivityCheck is created once its CRD is there', async () => {
  const ref = { namespace: 'default', name: 'netchecker-server' };
  const noted = ['traffic.example.com/first-connectivity-check'];
  expect((await find(DEPLOYMENTS, ref))?.metadata?.annotations).not.toHaveProperty(noted);
  await installCrd(scene.connected.client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
  await vi.waitFor(async () => {
    expect(await checks()).toEqual(['default']);
    expect(await problems()).toBe(0);
  }, WAIT);
});

describe.each(COMPONENTS)('$id', ({ resource, ref }) => {
  it('is corrected when a person changes it', async () => {
    const label = 'app.kubernetes.io/part-of';
    await scene.connected.client.mergePatch(resource, ref, { metadata: { labels: { [label]: 'x' } } }, PERSON);
    await vi.waitFor(
      async () => expect((await find(resource, ref))?.metadata?.labels?.[label]).toBe('traffic-operator'),
      WAIT,
    );
  });

  // A Namespace is deleted by a controller, which does not run here.
  it.skipIf(resource === NAMESPACES)('is created again when a person deletes it', async () => {
    const before = (await find(resource, ref))?.metadata?.uid;
    await scene.connected.client.delete(resource, ref);
    await vi.waitFor(async () => {
      const uid = (await find(resource, ref))?.metadata?.uid;
      expect(uid).toBeDefined();
      expect(uid).not.toBe(before);
    }, WAIT);
  });
});

type Workload = KubeObject & { readonly spec?: { readonly template?: V1PodTemplateSpec } };

/** The pods of a component. */
async function templateOf(resource: Resource, ref: ObjectRef): Promise<V1PodTemplateSpec | undefined> {
  return (await find(resource as Resource<Workload>, ref))?.spec?.template;
}

it.each<Resource>([DAEMONSETS, DEPLOYMENTS])(
  'the pods of a $kind are corrected when a person changes them',
  async (resource) => {
    const { ref } = COMPONENTS.find((each) => each.resource === resource)!;
    const image = async (): Promise<string | undefined> =>
      (await templateOf(resource, ref))?.spec?.containers[0]?.image;
    const name = resource === DAEMONSETS ? 'agent' : 'server';
    const spec = { template: { spec: { containers: [{ name, image: 'theirs:1' }] } } };
    await scene.connected.client.mergePatch(resource, ref, { spec }, PERSON);
    await vi.waitFor(async () => expect(await image()).toBe('ours:1'), WAIT);
  },
);

describe('Pod Security of an API server', () => {
  /** Why a namespace with the level `restricted` refuses the pods of a component; undefined if it accepts them. */
  async function refusal(
    resource: Resource,
    name: string,
    change: Partial<V1PodSpec> = {},
  ): Promise<string | undefined> {
    const { client } = scene.connected;
    const { ref } = COMPONENTS.find((each) => each.resource === resource && each.ref.name === name)!;
    const template = (await templateOf(resource, ref))!;
    const metadata = { name: `pod-of-${name}`, namespace: 'restricted' };
    const spec = { ...template.spec!, nodeName: 'n1', ...change };
    return client.create(PODS, { metadata, spec }).then(
      () => undefined,
      (error: unknown) => String(error),
    );
  }

  beforeAll(async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await scene.connected.client.create(NAMESPACES, { metadata: { name: 'restricted', labels } });
  });

  it('accepts the server and the agents of pods as restricted', async () => {
    expect(await refusal(DEPLOYMENTS, 'netchecker-server')).toBeUndefined();
    expect(await refusal(DAEMONSETS, 'netchecker-agent')).toBeUndefined();
  });

  it('refuses the agents of nodes for nothing but the network of the node', async () => {
    const reasons = await refusal(DAEMONSETS, 'netchecker-agent-hostnet');
    expect(reasons).toMatch(/violates PodSecurity "restricted:latest": host namespaces \(hostNetwork=true\), hostPort/);
    expect(reasons?.replaceAll(/\([^()]*\)/g, '').split(',')).toHaveLength(2);
    expect(await refusal(DAEMONSETS, 'netchecker-agent-hostnet', { hostNetwork: false })).toBeUndefined();
  });
});

describe('a restart', () => {
  const NODE_PORT = ['--connectivity', '--connectivity-image=ours:1', '--connectivity-service-type=NodePort'];
  const ports = async (): Promise<unknown[]> => {
    const { spec } = (await find(SERVICES, SERVICE)) as { spec?: { type?: string; ports?: { nodePort?: number }[] } };
    return [spec?.type, ...(spec?.ports ?? []).map(({ nodePort }) => nodePort)];
  };
  const versions = async (): Promise<unknown> =>
    Promise.all(
      COMPONENTS.filter(({ ref, resource }) => resource !== SERVICES || ref.name !== SERVICE.name).map(
        async ({ id, resource, ref }) => [id, (await find(resource, ref))?.metadata?.resourceVersion],
      ),
    );

  it('with another Service type changes it: its port is 31081', async () => {
    expect(await ports()).toEqual(['ClusterIP', undefined]);
    await operator.terminate();
    await startWith(...NODE_PORT);
    await vi.waitFor(async () => expect(await ports()).toEqual(['NodePort', 31_081]), WAIT);
    // Without TLS now: the CA goes, and the pods change once.
    await vi.waitFor(async () => expect(await present()).toHaveLength(COMPONENTS.length - 1), WAIT);
  });

  it('writes nothing else, and creates no second ConnectivityCheck after a person deleted the first', async () => {
    await scene.connected.client.delete(CONNECTIVITY_CHECKS, { name: 'default' });
    const before = await versions();
    await operator.terminate();
    await startWith('--connectivity', '--connectivity-image=ours:1');
    // The port goes with the type.
    await vi.waitFor(async () => expect(await ports()).toEqual(['ClusterIP', undefined]), WAIT);
    // A change that it corrects shows that it has made a pass.
    await scene.connected.client.mergePatch(SERVICES, SERVICE, { metadata: { labels: { app: 'other' } } }, PERSON);
    await vi.waitFor(async () => {
      expect((await find(SERVICES, SERVICE))?.metadata?.labels?.app).toBe('netchecker-server');
    }, WAIT);
    expect(await versions()).toEqual(before);
    expect(await checks()).toEqual([]);
  });
});

it('all are removed when the connectivity check is switched off, but those of others and ConnectivityChecks', async () => {
  const { client } = scene.connected;
  await client.create(CONNECTIVITY_CHECKS, { metadata: { name: 'mine' }, spec: {} });
  await operator.terminate();
  await client.delete(SERVICES, SERVICE);
  await client.create(SERVICES, { metadata: SERVICE, spec: { ports: [{ port: 8081 }] } });
  await startWith();
  await vi.waitFor(async () => expect(await present()).toEqual(['Service default/netchecker-service']), WAIT);
  expect(await checks()).toEqual(['mine']);
});
