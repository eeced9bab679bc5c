import type { V1ClusterRole } from '@kubernetes/client-node';
import { describe, expect, it, vi } from 'vitest';
import { controllerRules } from '../../src/controllers/measurement/rbac.ts';
import { CONFIG_MAPS, DAEMONSETS, SERVICES } from '../../src/runtime/client/resources.ts';
import type { Resource } from '../../src/runtime/client/resource.ts';
import { useBench } from './measurementBench.ts';
import type { Bench } from './measurementBench.ts';
import { whenAllowed } from './rights.ts';

/** A refused informer tries again after up to 30 s. */
const WAIT = { timeout: 90_000, interval: 100 };
const CLUSTER_ROLES: Resource<V1ClusterRole> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
};

const bench = useBench();

/** Binds the controller's cluster rights except list and watch of one resource, and waits until these are denied. */
async function grantAllBut(resource?: string): Promise<void> {
  const { client, namespace } = bench();
  const rules = controllerRules(namespace).cluster.filter(({ resources = [] }) => !resources.includes(resource ?? ''));
  const name = `operator-of-${namespace}`;
  await client.mergePatch(CLUSTER_ROLES, { name }, { rules }, { fieldManager: 'person' });
  // A watch that started with these rights would continue without them.
  const ended = controllerRules(namespace).cluster.find(({ resources = [] }) => resources.includes(resource ?? ''));
  if (ended !== undefined) await whenAllowed(client, name, { ...ended, resources: [resource!] }, { allowed: false });
}

const withoutExporter = (): Bench['options'] => ({
  ...bench().options,
  exporter: { ...bench().options.exporter, enabled: false },
});
const exporter = () => ({ namespace: `${bench().namespace}-node-exporter`, name: 'node-exporter' });
const prometheus = () => ({ namespace: bench().namespace, name: 'prometheus' });
const problemsOf = (measurement: ReturnType<Bench['start']>): string[] =>
  measurement.problems().map(({ reason, object }) => `${reason} ${object}`);

describe('a controller that may not watch the exporter', () => {
  it('deletes nothing of it, corrects drift of Prometheus, and continues once it has the right', async () => {
    bench().start();
    await bench().deployed();
    await bench().stop();
    await grantAllBut('daemonsets');
    const measurement = bench().start(withoutExporter());
    await vi.waitFor(
      () => expect(problemsOf(measurement)).toEqual([`Forbidden DaemonSet ${exporter().namespace}/node-exporter`]),
      WAIT,
    );
    expect(measurement.problems()[0]?.message).toContain('cannot watch resource "daemonsets"');
    await bench().client.delete(SERVICES, prometheus());
    await vi.waitFor(async () => expect(await bench().find(SERVICES, prometheus())).toBeDefined(), WAIT);
    await bench().lookAgain();
    expect(await bench().find(DAEMONSETS, exporter())).toBeDefined();
    expect(await bench().find(SERVICES, exporter())).toBeDefined();
    expect(bench().writes.filter((write) => write.startsWith('DELETE'))).toEqual([]);

    await grantAllBut();
    await vi.waitFor(async () => expect(await bench().find(DAEMONSETS, exporter())).toBeUndefined(), WAIT);
    await vi.waitFor(() => expect(problemsOf(measurement)).toEqual([]), WAIT);
  });
});

describe('a controller that may not watch EndpointSlices', () => {
  it('keeps the targets, and follows the nodes again once it has the right', async () => {
    bench().start();
    await bench().deployed();
    await bench().putSlice('a', { 'node-1': '10.0.0.1' });
    await vi.waitFor(async () => expect(await bench().targets()).toEqual({ 'node-1': '10.0.0.1:9100' }), WAIT);
    await bench().stop();
    await grantAllBut('endpointslices');
    await bench().putSlice('a', { 'node-2': '10.0.0.2' });
    const targets = { namespace: bench().namespace, name: 'prometheus-targets' };
    const before = (await bench().find(CONFIG_MAPS, targets))?.metadata?.resourceVersion;
    const measurement = bench().start();
    await vi.waitFor(() => expect(problemsOf(measurement)).toContain('Forbidden EndpointSlices'), WAIT);
    await bench().lookAgain();
    expect((await bench().find(CONFIG_MAPS, targets))?.metadata?.resourceVersion).toBe(before);

    await grantAllBut();
    await vi.waitFor(async () => expect(await bench().targets()).toEqual({ 'node-2': '10.0.0.2:9100' }), WAIT);
    await vi.waitFor(() => expect(problemsOf(measurement)).toEqual([]), WAIT);
  });
});
