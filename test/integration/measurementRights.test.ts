import type { V1Role } from '@kubernetes/client-node';
import { describe, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS } from '../../src/api/trafficstack/trafficStack.ts';
import { rule } from '../../src/controllers/contract/rights.ts';
import { controllerRules } from '../../src/controllers/measurement/rbac.ts';
import { CONFIG_MAPS, DAEMONSETS, SERVICES } from '../../src/runtime/client/resources.ts';
import type { Resource } from '../../src/runtime/client/resource.ts';
import { useBench } from './measurementBench.ts';
import type { Bench } from './measurementBench.ts';
import { CLUSTER_ROLES, whenAllowed } from './rights.ts';

/** A refused informer tries again after up to 30 s. */
const WAIT = { timeout: 90_000, interval: 100 };
const ROLES: Resource<V1Role> = { ...CLUSTER_ROLES, kind: 'Role', plural: 'roles', namespaced: true };

const { group, plural } = TRAFFIC_STACKS;
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
const problemsOf = (measurement: ReturnType<Bench['start']>): string[] =>
  measurement.problems().map(({ reason, object }) => `${reason} ${object}`);

describe('a controller that may not watch the exporter', () => {
  it('deletes nothing of it, and continues once it has the right', async () => {
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
    await bench().lookAgain();
    expect(await bench().find(DAEMONSETS, exporter())).toBeDefined();
    expect(await bench().find(SERVICES, exporter())).toBeDefined();
    expect(bench().writes.filter((write) => write.startsWith('DELETE'))).toEqual([]);

    await grantAllBut();
    await vi.waitFor(async () => expect(await bench().find(DAEMONSETS, exporter())).toBeUndefined(), WAIT);
    await vi.waitFor(() => expect(problemsOf(measurement)).toEqual([]), WAIT);
  });
});

describe('a controller that may not watch TrafficStacks', () => {
  it('writes nothing that a stack may have, and names their CRD once it knows that this is missing', async () => {
    const measurement = bench().start(bench().options, { readsStacks: true });
    await vi.waitFor(() => expect(problemsOf(measurement)).toEqual(['Forbidden TrafficStacks']), WAIT);
    await bench().lookAgain();
    const isOfNoStack = (write: string): boolean => /namespaces\/[^/]+$/.test(write);
    expect(bench().writes.filter((write) => !isOfNoStack(write))).toEqual([]);
    expect(bench().writes.filter(isOfNoStack)).not.toEqual([]);

    const rules = [...controllerRules(bench().namespace).cluster, rule(group, [plural], ['list', 'watch'])];
    const ref = { name: `operator-of-${bench().namespace}` };
    await bench().client.mergePatch(CLUSTER_ROLES, ref, { rules }, { fieldManager: 'person' });
    await vi.waitFor(() => {
      measurement.enqueueAll();
      expect(problemsOf(measurement)).toEqual(['CrdMissing TrafficStacks']);
    }, WAIT);
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

describe("a controller that may not watch the ConfigMaps of the agents' targets, as with the Role of an older release", () => {
  it('writes the targets of the nodes, and names the ConfigMaps', async () => {
    const { client, namespace, options } = bench();
    const name = `operator-of-${namespace}`;
    const isOfAgents = (each: string): boolean => each.startsWith('prometheus-agent-targets');
    const rules = controllerRules(namespace).own.map(({ resourceNames, ...rule }) => ({
      ...rule,
      ...(resourceNames && { resourceNames: resourceNames.filter((each) => !isOfAgents(each)) }),
    }));
    await client.mergePatch(ROLES, { namespace, name }, { rules }, { fieldManager: 'person' });
    const right = { apiGroups: [''], resources: ['configmaps'], resourceNames: ['prometheus-agent-targets'] };
    await whenAllowed(client, name, { ...right, verbs: ['watch'] }, { namespace, allowed: false });

    const measurement = bench().start({ ...options, connectivity: true });
    await bench().deployed();
    await bench().putSlice('a', { 'node-1': '10.0.0.1' });
    await vi.waitFor(async () => expect(await bench().targets()).toEqual({ 'node-1': '10.0.0.1:9100' }), WAIT);
    const forbidden = ['prometheus-agent-targets', 'prometheus-agent-targets-2'];
    // Each of the two is refused by itself.
    await vi.waitFor(
      () =>
        expect(problemsOf(measurement)).toEqual(forbidden.map((each) => `Forbidden ConfigMap ${namespace}/${each}`)),
      WAIT,
    );
  });
});
