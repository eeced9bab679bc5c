import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startControlPlane, type ControlPlane } from '../../harness/controlPlane.ts';
import { established } from '../../harness/customResource.ts';
import { applyObjects, kubectl } from '../../scenario/kubectl.ts';
import { leftovers } from '../../scenario/stackLeftovers.ts';

const CRD = fileURLToPath(new URL('../../../deploy/crds/traffic.example.com_trafficstacks.yaml', import.meta.url));
const labels = { 'traffic.example.com/stack': 'opensdn' };
const own = { namespace: 'contrail' };

/** Objects that a removal might leave, and how they are named. */
const LEFT = {
  'TrafficStack opensdn': {
    ...{ apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficStack', metadata: { name: 'opensdn' } },
    spec: { components: [] },
  },
  'ConfigMap contrail/a': { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...own } },
  'Service contrail/b': {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'b', ...own } },
    spec: { clusterIP: 'None', ports: [{ port: 80 }] },
  },
  'PersistentVolumeClaim contrail/c': {
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c', ...own } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
  },
  'PodDisruptionBudget contrail/d': {
    ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'd', ...own } },
    spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
  },
  'ControllerRevision contrail/e': {
    ...{ apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'e', ...own } },
    ...{ revision: 1, data: {} },
  },
  'ConfigMap default/f': { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'f', namespace: 'default', labels } },
  'PriorityClass g': {
    ...{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'g', labels } },
    value: 1,
  },
};

let plane: ControlPlane;
const directory = mkdtempSync(`${tmpdir()}/leftovers-`);

beforeAll(async () => {
  plane = await startControlPlane();
  copyFileSync(plane.kubeconfig, `${directory}/kubeconfig`);
  vi.stubEnv('TRAFFIC_LAB_DIR', directory);
  await kubectl('apply', '-f', CRD);
  await established((args) => kubectl(...args), ['-f', CRD]);
  await kubectl('create', 'namespace', 'contrail');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await plane.stop();
  rmSync(directory, { recursive: true });
});

it('nothing is left in a namespace that has nothing of its own', async () => {
  await kubectl('create', 'configmap', 'of-somebody', '-n', 'default');
  expect(await leftovers('opensdn', 'contrail')).toEqual([]);
});

it('what is left is the stack, any object with its label, and any in its namespace', async () => {
  await applyObjects(Object.values(LEFT));
  expect((await leftovers('opensdn', 'contrail')).toSorted()).toEqual(Object.keys(LEFT).toSorted());
});
