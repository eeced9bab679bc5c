import type { V1OwnerReference, V1Pod } from '@kubernetes/client-node';
import { describe, expect, it, vi } from 'vitest';
import type { KubeObject, Resource } from '../../src/runtime/client/resource.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  NAMESPACES,
  PODS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../src/runtime/client/resources.ts';
import { useBench, HEALED } from './measurementBench.ts';

const REPLICA_SETS: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  namespaced: true,
};
const PERSON = { fieldManager: 'person' };

const bench = useBench();

async function versions(): Promise<(string | undefined)[]> {
  return Object.values(await bench().all()).map((object) => object?.metadata?.resourceVersion);
}

/** Whether the controller makes the object itself; the other objects are of TrafficStacks. */
const isOwn = (id: string): boolean => id.startsWith('Namespace ') || id.endsWith('/prometheus-targets');

describe('what is deployed', () => {
  it('is deployed soon after the start, with only the rights of its RBAC rules', async () => {
    bench().start();
    await bench().deployed();
  });

  it('causes no writes while it is as desired, also after a restart', async () => {
    await bench().addPrometheusPod('prometheus-x');
    bench().start();
    await bench().deployed();
    await bench().settled();
    const before = await versions();
    const writes = bench().writes.length;
    await bench().lookAgain();
    await bench().stop();
    bench().start();
    await bench().lookAgain();
    expect(bench().writes.slice(writes)).toEqual([]);
    expect(await versions()).toEqual(before);
  });

  it('has Prometheus pods that the Pod Security level restricted allows', async () => {
    bench().start();
    await bench().deployed();
    const { namespace } = bench();
    const deployment = await bench().client.get(DEPLOYMENTS, { namespace, name: 'prometheus' });
    const { metadata, spec } = deployment.spec!.template;
    const pod: V1Pod = { metadata: { namespace, name: 'p', labels: metadata!.labels }, spec: spec! };
    await expect(bench().client.apply(PODS, pod, { ...PERSON, dryRun: true })).resolves.toBeDefined();
  });

  it('has exporter pods that only their own namespace allows', async () => {
    bench().start();
    await bench().deployed();
    const inside = `${bench().namespace}-node-exporter`;
    const { spec } = (await bench().client.get(DAEMONSETS, { namespace: inside, name: 'node-exporter' })).spec!
      .template;
    const pod = (namespace: string): V1Pod => ({ metadata: { namespace, name: 'p' }, spec: spec! });
    await expect(bench().client.apply(PODS, pod(inside), { ...PERSON, dryRun: true })).resolves.toBeDefined();
    await expect(bench().client.apply(PODS, pod(bench().namespace), { ...PERSON, dryRun: true })).rejects.toThrow(
      'hostNetwork',
    );
  });

  it("is owned by the operator's Deployment in the same namespace, so that it is deleted with it", async () => {
    const { client, namespace } = bench();
    const selector = { matchLabels: { app: 'operator' } };
    const template = { metadata: { labels: selector.matchLabels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const deployment = await client.create(DEPLOYMENTS, {
      metadata: { namespace, name: 'operator' },
      spec: { selector, template },
    });
    const controlledBy = (kind: string, name: string, uid = 'u'): V1OwnerReference[] => [
      { apiVersion: 'apps/v1', kind, name, uid, controller: true },
    ];
    await client.create(REPLICA_SETS, {
      metadata: {
        namespace,
        name: 'operator-1',
        ownerReferences: controlledBy('Deployment', 'operator', deployment.metadata!.uid),
      },
      spec: { selector, template },
    } as KubeObject);
    await bench().addPrometheusPod('operator-1-a');
    const ownerReferences = controlledBy('ReplicaSet', 'operator-1');
    const ref = { namespace, name: 'operator-1-a' };
    await client.mergePatch(PODS, ref, { metadata: { ownerReferences, labels: null } }, PERSON);
    bench().start(bench().options, { pod: ref });
    await bench().deployed();
    const owners = Object.entries(await bench().all()).flatMap(([id, { metadata } = {}]) =>
      isOwn(id) ? [[id, metadata?.ownerReferences?.[0]?.uid]] : [],
    );
    expect(owners).toEqual([
      [`Namespace ${namespace}-node-exporter`, undefined],
      [`ConfigMap ${namespace}/prometheus-targets`, deployment.metadata!.uid],
    ]);
  });
});

describe('drift and deletion', () => {
  interface Drift {
    what: string;
    resource: Resource;
    name: string;
    patch: unknown;
  }
  const rows: Drift[] = [
    {
      what: 'a removed label',
      resource: NAMESPACES,
      name: '-node-exporter',
      patch: { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } } },
    },
    {
      what: 'other targets',
      resource: CONFIG_MAPS,
      name: 'prometheus-targets',
      patch: { data: { 'targets.json': '' } },
    },
  ];

  it('of any kind is corrected within 10 s', async () => {
    bench().start();
    await bench().deployed();
    await bench().lookAgain();
    for (const { what, resource, name, patch } of rows) {
      const { namespace } = bench();
      const ref = resource.namespaced ? { namespace, name } : { name: `${bench().namespace}${name}` };
      const before = essence(await bench().client.get(resource, ref));
      const drifted = await bench().client.mergePatch(resource, ref, patch, PERSON);
      expect(essence(drifted), what).not.toEqual(before);
      await vi.waitFor(
        async () => expect(essence(await bench().client.get(resource, ref)), what).toEqual(before),
        HEALED,
      );
    }
  });

  it('of the targets is repaired within 10 s', async () => {
    bench().start();
    await bench().deployed();
    const ref = { namespace: bench().namespace, name: 'prometheus-targets' };
    const { uid } = (await bench().client.get(CONFIG_MAPS, ref)).metadata!;
    await bench().client.delete(CONFIG_MAPS, ref);
    await vi.waitFor(async () => {
      const healed = (await bench().find(CONFIG_MAPS, ref))?.metadata?.uid;
      expect(healed).toEqual(expect.any(String));
      expect(healed).not.toBe(uid);
    }, HEALED);
  });

  it('of a whole namespace is repaired within 10 s after its end', async () => {
    bench().start();
    await bench().deployed();
    const name = `${bench().namespace}-node-exporter`;
    await bench().client.delete(NAMESPACES, { name });
    await bench().lookAgain();
    // Done by the namespace controller.
    for (const resource of [DAEMONSETS, SERVICES, SERVICE_ACCOUNTS] as Resource[]) {
      await bench().client.delete(resource, { namespace: name, name: 'node-exporter' });
    }
    await bench().finalizeNamespace(name);
    await bench().deployed(HEALED);
  });
});

/** An object without what changes at every write, and without the words of the person that changed it. */
function essence(object: KubeObject): unknown {
  const { labels, annotations, uid } = object.metadata!;
  const generation = { 'deprecated.daemonset.template.generation': undefined };
  return {
    ...object,
    metadata: { labels, annotations: { ...annotations, ...generation }, uid },
    status: undefined,
  };
}
