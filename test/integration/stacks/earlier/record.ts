/**
 * Records the objects that an earlier version of the operator writes with the default values of its chart, for
 * test/integration/stacks/defaultStack.test.ts. They are read from a real API server and are stored with the fields that the operator
 * had applied, without those that the server sets.
 *
 * testdata/a947d565.json is of the last commit before TrafficStacks. So it was made, and so it is made again:
 *
 *   git worktree add /tmp/earlier a947d565 && (cd /tmp/earlier && npm ci)
 *   node test/integration/stacks/earlier/record.ts /tmp/earlier
 *
 * It needs etcd, kube-apiserver and helm of test/lab/build.sh.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { V1OwnerReference } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../../../scripts/chart/helm.ts';
import { FIELD_MANAGER } from '../../../../src/controllers/measurement/names.ts';
import type { Client } from '../../../../src/runtime/client/client.ts';
import { apiVersionOf, type KubeObject, type Resource } from '../../../../src/runtime/client/resource.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../../../src/runtime/client/resources.ts';
import { startControlPlane } from '../../../harness/controlPlane.ts';
import { sleep } from '../../../harness/measured.ts';
import { startOperator } from '../../../harness/operator.ts';
import { connect } from '../../../harness/runtimeScene.ts';
import { binary } from '../../../lab/binaries.ts';
import { operatorArgs } from './operatorArgs.ts';

const NAMESPACE = 'traffic-operator-system';
/** In the order of creation. */
const RECORDED: readonly Resource[] = [
  ...[NAMESPACES, SERVICE_ACCOUNTS, CONFIG_MAPS, SERVICES],
  ...[PERSISTENT_VOLUME_CLAIMS, DAEMONSETS, DEPLOYMENTS],
];
const LABELS = { app: 'traffic-operator' };
const REPLICASETS: Resource = {
  ...{ group: 'apps', version: 'v1', kind: 'ReplicaSet', plural: 'replicasets', namespaced: true },
};
/** After this time without a new version of an object, the operator has written all. */
const QUIET_MS = 10_000;

const [checkout] = process.argv.slice(2);
if (checkout === undefined) throw new Error('usage: record.ts DIRECTORY, which is a checkout of the earlier version');
const commit = execFileSync('git', ['-C', checkout, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
const args = await argsOf(checkout);
const objects = await record(checkout, args);
const file = new URL(`testdata/${commit.slice(0, 8)}.json`, import.meta.url);
writeFileSync(file, `${JSON.stringify({ commit, args, objects }, undefined, 2)}\n`);

async function argsOf(directory: string): Promise<readonly string[]> {
  const template = ['template', 'traffic-operator', '--namespace', NAMESPACE, `${directory}/charts/traffic-operator`];
  const text = execFileSync(await binary('helm'), template, { encoding: 'utf8' });
  return operatorArgs(parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []));
}

async function record(directory: string, operatorFlags: readonly string[]): Promise<KubeObject[]> {
  const plane = await startControlPlane();
  const { client, transport } = connect(plane);
  try {
    const crds = ['create', '-k', `${directory}/deploy/crds`, `--kubeconfig=${plane.kubeconfig}`];
    execFileSync(await binary('kubectl'), crds, { stdio: 'inherit' });
    process.env.POD_NAME = await createOperatorPod(client);
    await client.create(NODES, { metadata: { name: 'n1', labels: { 'kubernetes.io/os': 'linux' } } });
    const main = `${directory}/src/main.ts`;
    const { kubeconfig } = plane;
    const operator = await startOperator({ kubeconfig, prometheusUrl: undefined, args: operatorFlags, main, pace: [] });
    try {
      return await quietly(client);
    } finally {
      await operator.kill();
    }
  } finally {
    await transport.close();
    await plane.stop();
  }
}

/** A pod of the operator's Deployment, which owns what is in its namespace. Without controllers, all three are created here. @returns its name */
async function createOperatorPod(client: Client): Promise<string> {
  const spec = {
    selector: { matchLabels: LABELS },
    template: {
      metadata: { labels: LABELS },
      spec: { containers: [{ name: 'manager', image: 'traffic-operator:1' }] },
    },
  };
  const metadata = { namespace: NAMESPACE, name: 'traffic-operator', labels: LABELS };
  await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  const deployment = await client.create(DEPLOYMENTS, { metadata, spec });
  const ofDeployment = { ...metadata, ownerReferences: [ownedBy(deployment, 'Deployment')] };
  const replicaSet = await client.create(REPLICASETS, { metadata: ofDeployment, spec } as KubeObject);
  const ofReplicaSet = { ...metadata, ownerReferences: [ownedBy(replicaSet, 'ReplicaSet')] };
  await client.create(PODS, { metadata: ofReplicaSet, spec: spec.template.spec });
  return metadata.name;
}

function ownedBy({ metadata }: KubeObject, kind: string): V1OwnerReference {
  return { apiVersion: 'apps/v1', kind, name: metadata?.name ?? '', uid: metadata?.uid ?? '', controller: true };
}

/** The objects that the measurement has written, when nothing changes. */
async function quietly(client: Client): Promise<KubeObject[]> {
  const versionsOf = (list: readonly KubeObject[]): string =>
    list.map(({ metadata }) => metadata?.resourceVersion).join();
  let found = await written(client);
  for (let before = ''; found.length === 0 || versionsOf(found) !== before;) {
    before = versionsOf(found);
    await sleep(QUIET_MS);
    found = await written(client);
  }
  return found.map(withoutServerFields);
}

async function written(client: Client): Promise<KubeObject[]> {
  const lists = RECORDED.map(async (resource) => {
    const typed = { apiVersion: apiVersionOf(resource), kind: resource.kind };
    return (await client.list(resource)).map((object) => ({ ...typed, ...object }));
  });
  return (await Promise.all(lists)).flat().filter(isWritten);
}

function isWritten({ metadata }: KubeObject): boolean {
  return metadata?.managedFields?.some(({ manager }) => manager === FIELD_MANAGER) === true;
}

function withoutServerFields(object: KubeObject): KubeObject {
  const { metadata = {}, ...content } = object;
  const managedFields = metadata.managedFields?.filter(
    ({ manager, subresource }) => manager === FIELD_MANAGER && subresource === undefined,
  );
  return {
    ...without(content, ['status']),
    metadata: {
      ...without(metadata, ['uid', 'resourceVersion', 'creationTimestamp', 'generation']),
      ...(managedFields && { managedFields: managedFields.map((entry) => without(entry, ['time'])) }),
    },
  };
}

function without<T extends object>(object: T, fields: readonly string[]): Partial<T> {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field))) as Partial<T>;
}
