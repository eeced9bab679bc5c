import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1PodSpec, V1PodTemplateSpec } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CONNECTIVITY_CHECKS } from '../../src/api/connectivitycheck/connectivityCheck.ts';
import { TRAFFIC_STACKS } from '../../src/api/trafficstack/trafficStack.ts';
import { defaultConnectivityOptions } from '../../src/connectivity/objects/names.ts';
import { allComponents } from '../../src/controllers/connectivity/components/components.ts';
import { CONTROLLERS } from '../../src/controllers/registry.ts';
import { isNotFound } from '../../src/runtime/client/errors.ts';
import { keyOf, refOfKey, type KubeObject, type ObjectRef, type Resource } from '../../src/runtime/client/resource.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  NAMESPACES,
  PODS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../src/runtime/client/resources.ts';
import { createAuthority } from '../../src/runtime/testing/certificates.ts';
import { connectivityCheckCrd, installCrd, trafficStackCrd } from '../harness/customResource.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { startOperator, type Operator } from '../harness/operator.ts';
import { useConnectedPlane } from './connectedPlane.ts';
import { userWith } from './rights.ts';

/**
 * The process of the operator deploys the connectivity check in the stack `default`, keeps it as it should be, gives its agents the CA of the server, and removes it.
 * What the objects contain is in src/controllers/connectivity/components/testdata.
 */
const WAIT = { timeout: 120_000, interval: 100 };
const PERSON = { fieldManager: 'person', force: true };
const AGENTS = 'default-connectivity';
const ALL = allComponents(defaultConnectivityOptions('default')).map(({ resource, object, group }) => ({
  id: `${resource.kind} ${keyOf(object)}`,
  ...{ resource, group, ref: refOfKey(keyOf(object)) },
}));
/** The objects without TLS. */
const PLAIN = ALL.filter(({ group }) => group !== 'serverCa');
const idsOf = (components: typeof ALL): string[] => components.map(({ id }) => id).sort();
const SERVICE: ObjectRef = { namespace: 'default', name: 'netchecker-service' };
const SERVER: ObjectRef = { namespace: 'default', name: 'netchecker-server' };
const HOST_AGENTS: ObjectRef = { namespace: AGENTS, name: 'netchecker-agent-hostnet' };
const SERVER_CA: ObjectRef = { namespace: AGENTS, name: 'netchecker-server-ca' };
const FIRST_CHECK = 'traffic.example.com/first-connectivity-check';
const CERTIFICATE_ARGUMENT = '--tls-cert-path=/etc/traffic-operator/certificate';
const CA_ARGUMENT = '--server-ca-file=/var/run/secrets/traffic-operator/server-ca.crt';
const ON = ['--connectivity', '--connectivity-image=ours:1'];
/** A user with the rights of a version before TLS: none to the CA of the server. */
const OLDER = 'older';

const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client);
  await installCrd(client, trafficStackCrd(), TRAFFIC_STACKS);
});
let directory: string;
let caFile: string;
let withTls: readonly string[];
let older: string;
let operator: Operator | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'traffic-server-ca-'));
  caFile = join(directory, 'ca.crt');
  withTls = [...ON, '--connectivity-tls-secret=server-tls', `--connectivity-server-ca-file=${caFile}`];
  const rights = CONTROLLERS.flatMap((each) => {
    const { controller, onlyWith = [] } = each.rights('default');
    const isOn = (value: string): boolean => ['trafficWatch.deployments', 'connectivity'].includes(value);
    return [controller, ...onlyWith.filter(({ values }) => values.every(isOn))];
  })
    .flatMap(({ cluster, own }) => [...cluster, ...own])
    .filter(({ resourceNames = [] }) => !resourceNames.includes(SERVER_CA.name));
  older = await userWith({ client: scene.connected.client, controlPlane: scene.plane }, OLDER, rights);
});
afterAll(async () => {
  await operator?.kill();
  await rm(directory, { recursive: true, force: true });
});

/** Replaces the operator. */
async function run(flags: readonly string[], kubeconfig = scene.plane.kubeconfig): Promise<Operator> {
  await operator?.terminate();
  const args = ['--namespace=default', ...flags];
  // Nothing listens there: no measurement is needed.
  const rest = { prometheusUrl: 'http://127.0.0.1:9', until: 'alive' } as const;
  operator = await startOperator({ kubeconfig, args, ...rest });
  return operator;
}

async function find<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): Promise<T | undefined> {
  return scene.connected.client.get(resource, ref).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}
type Workload = KubeObject & { readonly spec?: { readonly template?: V1PodTemplateSpec } };
const templateOf = async (resource: Resource, ref: ObjectRef) =>
  (await find(resource as Resource<Workload>, ref))?.spec?.template;
const argsOf = async (resource: Resource, ref: ObjectRef) =>
  (await templateOf(resource, ref))?.spec?.containers[0]?.args;
const agentArgs = () => argsOf(DAEMONSETS, HOST_AGENTS);
const serverArgs = () => argsOf(DEPLOYMENTS, SERVER);
const sharedCa = async () => (await find(CONFIG_MAPS, SERVER_CA))?.data?.['ca.crt'];
const problems = async () => (await metricsOf(operator!)).sum('connectivity_deployment_problems');
const component = async (name: string) => {
  const { status } = await scene.connected.client.get(TRAFFIC_STACKS, { name: 'default' });
  return status?.components?.find((each) => each.name === name);
};
const checks = async () =>
  (await scene.connected.client.list(CONNECTIVITY_CHECKS)).map(({ metadata }) => metadata?.name);
const serviceNow = async () => {
  const { metadata, spec } = (await find(SERVICES, SERVICE)) ?? {};
  return { labels: metadata?.labels, type: spec?.type, nodePort: spec?.ports?.[0]?.nodePort };
};

/** Each object that exists, and that is not being deleted, by its id. */
async function present(): Promise<Map<string, KubeObject>> {
  const found = await Promise.all(ALL.map(async ({ id, resource, ref }) => [id, await find(resource, ref)] as const));
  return new Map(found.flatMap(([id, live]) => (live && !live.metadata?.deletionTimestamp ? [[id, live]] : [])));
}
const presentIds = async () => [...(await present()).keys()].sort();
const isDeployed = (components: typeof ALL) =>
  vi.waitFor(async () => expect(await presentIds()).toEqual(idsOf(components)), WAIT);

/** A change that the operator corrects shows that it has reconciled. */
async function reconciled(): Promise<void> {
  const patch = { metadata: { labels: { app: 'x' } } };
  await scene.connected.client.mergePatch(SERVICES, SERVICE, patch, PERSON);
  await vi.waitFor(async () => expect((await serviceNow()).labels?.app).toBe('netchecker-server'), WAIT);
}

describe('with the rights of a version before TLS', () => {
  it('names the right to the CA that is missing, with TLS', async () => {
    const running = await run(withTls, older);
    await vi.waitFor(async () => {
      expect(running.log()).toMatch(/configmaps \\"netchecker-server-ca\\" is forbidden/);
      const ready = await fetch(`${running.healthUrl}/readyz?verbose`);
      expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('[-]cache of configmaps')]);
    }, WAIT);
    expect(await serverArgs()).toBeUndefined();
  });

  it('deploys all without TLS, and a ConnectivityCheck once its CRD is there', async () => {
    const running = await run(ON, older);
    await isDeployed(PLAIN);
    expect((await fetch(`${running.healthUrl}/readyz`)).status).toBe(200);
    expect(await agentArgs()).not.toContain(CA_ARGUMENT);
    expect((await find(DEPLOYMENTS, SERVER))?.metadata?.annotations).not.toHaveProperty([FIRST_CHECK]);
    // It is tried after the objects are there.
    await vi.waitFor(() => expect(running.log()).toContain('ConnectivityCheck default'), WAIT);
    await installCrd(scene.connected.client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
    await vi.waitFor(async () => expect([await checks(), await problems()]).toEqual([['default'], 0]), WAIT);
  });
});

it('corrects each object that a person changes, and the pods of each workload', async () => {
  const { client } = scene.connected;
  const label = 'app.kubernetes.io/part-of';
  for (const { resource, ref } of PLAIN) {
    await client.mergePatch(resource, ref, { metadata: { labels: { [label]: 'x' } } }, PERSON);
  }
  const images: Readonly<Record<string, readonly [Resource, ObjectRef]>> = {
    server: [DEPLOYMENTS, SERVER],
    agent: [DAEMONSETS, HOST_AGENTS],
  };
  for (const [name, [resource, ref]] of Object.entries(images)) {
    const spec = { template: { spec: { containers: [{ name, image: 'theirs:1' }] } } };
    await client.mergePatch(resource, ref, { spec }, PERSON);
  }
  await vi.waitFor(async () => {
    for (const [id, { metadata }] of await present()) expect(metadata?.labels?.[label], id).toBe('traffic-operator');
    for (const [resource, ref] of Object.values(images)) {
      expect((await templateOf(resource, ref))?.spec?.containers[0]?.image).toBe('ours:1');
    }
  }, WAIT);
});

it('creates each object again that a person deletes', async () => {
  // A Namespace is deleted by a controller, which does not run here.
  const deleted = PLAIN.filter(({ resource }) => resource !== NAMESPACES);
  const before = await present();
  for (const { resource, ref } of deleted) await scene.connected.client.delete(resource, ref);
  await vi.waitFor(async () => {
    const now = await present();
    expect([...now.keys()].sort()).toEqual(idsOf(PLAIN));
    for (const { id } of deleted) expect(now.get(id)?.metadata?.uid, id).not.toBe(before.get(id)?.metadata?.uid);
  }, WAIT);
});

describe('Pod Security of an API server', () => {
  /** Why a namespace with the level `restricted` refuses the pods of a component; undefined if it accepts them. */
  async function refusal(resource: Resource, ref: ObjectRef, change: Partial<V1PodSpec> = {}) {
    const template = (await templateOf(resource, ref))!;
    const metadata = { name: `pod-of-${ref.name}`, namespace: 'restricted' };
    const spec = { ...template.spec!, nodeName: 'n1', ...change };
    return scene.connected.client.create(PODS, { metadata, spec }).then(
      () => undefined,
      (error: unknown) => String(error),
    );
  }

  beforeAll(async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await scene.connected.client.create(NAMESPACES, { metadata: { name: 'restricted', labels } });
  });

  it('accepts the server and the agents of pods as restricted', async () => {
    expect(await refusal(DEPLOYMENTS, SERVER)).toBeUndefined();
    expect(await refusal(DAEMONSETS, { ...HOST_AGENTS, name: 'netchecker-agent' })).toBeUndefined();
  });

  it('refuses the agents of nodes for nothing but the network of the node', async () => {
    const reasons = await refusal(DAEMONSETS, HOST_AGENTS);
    expect(reasons).toMatch(/violates PodSecurity "restricted:latest": host namespaces \(hostNetwork=true\), hostPort/);
    expect(reasons?.replaceAll(/\([^()]*\)/g, '').split(',')).toHaveLength(2);
    expect(await refusal(DAEMONSETS, HOST_AGENTS, { hostNetwork: false })).toBeUndefined();
  });
});

it('writes nothing after a restart, and creates no second ConnectivityCheck after the user deleted the first', async () => {
  // The Deployment, made again in a test before, gets the annotation in the next reconcile.
  const annotations = async () => (await find(DEPLOYMENTS, SERVER))?.metadata?.annotations;
  await vi.waitFor(async () => expect(await annotations()).toHaveProperty([FIRST_CHECK]), WAIT);
  await scene.connected.client.delete(CONNECTIVITY_CHECKS, { name: 'default' });
  const versions = async () =>
    [...(await present())]
      .filter(([id]) => id !== 'Service default/netchecker-service')
      .map(([id, { metadata }]) => [id, metadata?.resourceVersion]);
  const before = await versions();
  await run(ON);
  await reconciled();
  expect(await versions()).toEqual(before);
  expect(await checks()).toEqual([]);
});

it('takes over no object of another owner, names it, and makes its own when it is gone: a NodePort is 31081', async () => {
  const { client } = scene.connected;
  await operator!.terminate();
  operator = undefined;
  const template = { metadata: { labels: { app: 'theirs' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const foreign = [
    { resource: SERVICES as Resource, ref: SERVICE, spec: { ports: [{ port: 8081 }] } },
    {
      resource: DEPLOYMENTS as Resource,
      ref: SERVER,
      spec: { selector: { matchLabels: { app: 'theirs' } }, template },
    },
  ];
  for (const { resource, ref, spec } of foreign) {
    await client.delete(resource, ref);
    await vi.waitFor(async () => expect(await find(resource, ref)).toBeUndefined(), WAIT);
    await client.create(resource, { metadata: ref, spec } as KubeObject);
  }
  await run([...ON, '--connectivity-service-type=NodePort']);
  await vi.waitFor(async () => {
    expect(await component('connectivity-server')).toMatchObject({
      ...{ state: 'Failed', reason: 'ForeignObject' },
      message: expect.stringMatching(/^Service default\/netchecker-service exists and is not of this stack/) as string,
    });
  }, WAIT);
  expect((await serviceNow()).labels).toBeUndefined();
  expect((await templateOf(DEPLOYMENTS, SERVER))?.metadata?.labels).toEqual({ app: 'theirs' });
  for (const { resource, ref } of foreign) await client.delete(resource, ref);
  await vi.waitFor(async () => {
    expect(await serviceNow()).toMatchObject({ type: 'NodePort', nodePort: 31_081 });
  }, WAIT);
  await isDeployed(PLAIN);
});

describe('with TLS', () => {
  const [first, second] = ['first', 'second'].map((name) => createAuthority(name).cert) as [string, string];

  it('reports a CA that cannot be used, and leaves server and agents as they are: agents could not follow', async () => {
    const running = await run(withTls);
    await vi.waitFor(async () => {
      expect(await problems()).toBe(1);
      expect(running.log()).toContain('Secret server-tls: ca.crt cannot be used');
    }, WAIT);
    await vi.waitFor(async () => {
      for (const name of ['connectivity-server', 'connectivity-agents']) {
        expect(await component(name)).toMatchObject({ state: 'Waiting', reason: 'WaitingForSecret' });
      }
    }, WAIT);
    expect((await component('connectivity-server'))?.message).toContain('Secret server-tls: ca.crt cannot be used');
    expect(await serverArgs()).not.toContain(CERTIFICATE_ARGUMENT);
    expect(await agentArgs()).not.toContain(CA_ARGUMENT);
    expect(await sharedCa()).toBeUndefined();
  });

  it('gives it to the agents once it is there, and a renewed one later', async () => {
    await writeFile(caFile, first);
    await reconciled();
    await vi.waitFor(async () => {
      expect(await sharedCa()).toBe(first);
      expect(await agentArgs()).toContain(CA_ARGUMENT);
      expect(await serverArgs()).toContain(CERTIFICATE_ARGUMENT);
      expect(await problems()).toBe(0);
    }, WAIT);
    await writeFile(caFile, `${first}${second}`);
    await reconciled();
    await vi.waitFor(async () => expect(await sharedCa()).toBe(`${first}${second}`), WAIT);
    await isDeployed(ALL);
  });

  it('keeps the one that it shared while the file is broken', async () => {
    await writeFile(caFile, 'broken');
    await reconciled();
    await vi.waitFor(async () => expect(await problems()).toBe(1), WAIT);
    expect(await sharedCa()).toBe(`${first}${second}`);
    expect(await agentArgs()).toContain(CA_ARGUMENT);
  });

  it('removes it without TLS', async () => {
    await run(ON);
    await vi.waitFor(async () => {
      expect(await sharedCa()).toBeUndefined();
      expect(await agentArgs()).not.toContain(CA_ARGUMENT);
      expect(await serverArgs()).not.toContain(CERTIFICATE_ARGUMENT);
    }, WAIT);
  });
});

it('removes all that it deployed when it is switched off, and leaves other objects and ConnectivityChecks', async () => {
  const { client } = scene.connected;
  await client.create(CONNECTIVITY_CHECKS, { metadata: { name: 'mine' }, spec: {} });
  const foreign = { namespace: 'default', name: 'foreign' };
  await client.create(SERVICE_ACCOUNTS, { metadata: foreign });
  await run([]);
  await isDeployed([]);
  expect(await find(SERVICE_ACCOUNTS, foreign)).toBeDefined();
  expect((await checks()).sort()).toEqual(['default', 'mine']);
});
