import type { V1ClusterRole, V1ClusterRoleBinding, V1Pod } from '@kubernetes/client-node';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { POD_PLACEMENT_NAME, POD_PLACEMENTS, type PodPlacementSpec } from '../../../src/api/podplacement/schema.ts';
import { WEBHOOK_PATH } from '../../../src/placement/webhook/configuration.ts';
import { resourcePath, type Resource } from '../../../src/runtime/client/resource.ts';
import { MUTATING_WEBHOOKS, NAMESPACES, PODS } from '../../../src/runtime/client/resources.ts';
import { createAuthority, type KeyPair } from '../../../src/runtime/testing/certificates.ts';
import { startControlPlane, type ControlPlane } from '../../harness/controlPlane.ts';
import { installCrd, podPlacementCrd } from '../../harness/customResource.ts';
import { freePorts, whenReady } from '../../harness/process.ts';
import { startProgram, type Program } from '../../harness/program.ts';
import { connect, type Connected } from '../../harness/runtimeScene.ts';
import { startFront, type Front } from './front.ts';

export const CONFIGURATION = 'traffic-operator-placement';
export const KEY = 'db.shop.traffic.example.com/unfit';
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false } as const;
const CLUSTER_ROLES: Resource<V1ClusterRole> = { ...RBAC, kind: 'ClusterRole', plural: 'clusterroles' };
const BINDINGS: Resource<V1ClusterRoleBinding> = {
  ...RBAC,
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
};
/** The user of the webhook. */
export const USER = 'placement-webhook';
const READY_MS = 120_000;

/** A replica of the webhook. */
export interface Replica extends Program {
  readonly port: number;
  readonly healthUrl: string;
  /** host:port */
  readonly metrics: string;
}

/** A control plane without the policy, whose webhooks see the client certificate of the API server. */
export interface WebhookWorld extends Connected {
  readonly plane: ControlPlane;
  readonly front: Front;
  /** The client certificate that the API server shows. */
  readonly clientCertificate: KeyPair;
  /** Starts a replica, with the rights of the chart, and waits until it is ready. */
  startReplica(name: string): Promise<Replica>;
  place(namespace: string, spec: PodPlacementSpec): Promise<void>;
  /** The pod as the API server would store it, and how long that took: ms. */
  admitted(namespace: string, pod: V1Pod): Promise<{ pod: V1Pod; ms: number }>;
  stop(): Promise<void>;
}

/** A PodPlacement with one TrafficWatch that selects app=db. */
export const forDb: PodPlacementSpec = {
  entries: [{ trafficWatch: 'db', labelKey: KEY, placement: 'Required', podSelector: { matchLabels: { app: 'db' } } }],
  byLabel: { 'app=db': [0] },
};

/** A pod that forDb selects. */
export function aPod(labels: Record<string, string> = { app: 'db' }): V1Pod {
  const containers = [{ name: 'main', image: 'registry.example.com/app:1' }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one', labels }, spec: { containers } };
}

/** The values of the required terms of a pod, as text. */
export const termsOf = ({ spec }: V1Pod): string =>
  JSON.stringify(spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []);

export async function startWebhookWorld(): Promise<WebhookWorld> {
  const directory = await mkdtemp(join(tmpdir(), 'placement-webhook-'));
  const authority = createAuthority('clients');
  const pair = authority.issue('kube-apiserver');
  const file = (name: string, content: string | object): Promise<void> =>
    writeFile(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content));
  await file('ca.crt', authority.cert);
  await file('client.crt', pair.cert);
  await file('client.key', pair.key);
  const user = { 'client-certificate': join(directory, 'client.crt'), 'client-key': join(directory, 'client.key') };
  await file('kubeconfig', { apiVersion: 'v1', kind: 'Config', users: [{ name: '*', user }] });
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'WebhookAdmissionConfiguration',
    kubeConfigFile: join(directory, 'kubeconfig'),
  };
  await file('admission', {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: [{ name: 'MutatingAdmissionWebhook', configuration }],
  });
  const apiServerFlags = [`--admission-control-config-file=${join(directory, 'admission')}`];
  const plane = await startControlPlane({ apiServerFlags });
  const c = connect(plane);
  const front = await startFront();
  await installCrd(c.client, podPlacementCrd(), POD_PLACEMENTS);
  await c.client.create(MUTATING_WEBHOOKS, { metadata: { name: CONFIGURATION } });
  await grantRights(c);
  const kubeconfig = await plane.user(USER, []);

  return {
    ...c,
    plane,
    front,
    clientCertificate: pair,
    startReplica: (name) => startReplica({ name, kubeconfig, directory, front }),
    place: async (namespace, spec) => {
      await c.client.create(NAMESPACES, { metadata: { name: namespace } });
      await c.client.create(POD_PLACEMENTS, { metadata: { namespace, name: POD_PLACEMENT_NAME }, spec });
    },
    admitted: async (namespace, body) => {
      const path = resourcePath(PODS, { namespace });
      const began = performance.now();
      const pod = await c.transport.request<V1Pod>({ method: 'POST', path, query: { dryRun: 'All' }, body });
      return { pod, ms: performance.now() - began };
    },
    stop: async () => {
      await front.close();
      await c.transport.close();
      await plane.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The rights that the chart grants. */
async function grantRights({ client }: Connected): Promise<void> {
  await client.create(CLUSTER_ROLES, {
    metadata: { name: USER },
    rules: [
      { apiGroups: ['traffic.example.com'], resources: ['podplacements'], verbs: ['list', 'watch'] },
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['mutatingwebhookconfigurations'],
        resourceNames: [CONFIGURATION],
        verbs: ['get', 'patch'],
      },
    ],
  });
  await client.create(BINDINGS, {
    metadata: { name: USER },
    roleRef: { apiGroup: RBAC.group, kind: 'ClusterRole', name: USER },
    subjects: [{ apiGroup: RBAC.group, kind: 'User', name: USER }],
  });
}

interface ReplicaOptions {
  readonly name: string;
  readonly kubeconfig: string;
  readonly directory: string;
  readonly front: Front;
}

async function startReplica({ name, kubeconfig, directory, front }: ReplicaOptions): Promise<Replica> {
  const [port, health, metrics] = (await freePorts(3)) as [number, number, number];
  const args = [
    'placement-webhook',
    `--kubeconfig=${kubeconfig}`,
    `--url=https://127.0.0.1:${front.port}${WEBHOOK_PATH}`,
    `--webhook-bind-address=127.0.0.1:${port}`,
    `--health-probe-bind-address=127.0.0.1:${health}`,
    `--metrics-bind-address=127.0.0.1:${metrics}`,
    `--client-ca-file=${join(directory, 'ca.crt')}`,
  ];
  const program = await startProgram(args, { POD_NAME: name });
  const healthUrl = `http://127.0.0.1:${health}`;
  await whenReady(name, program.running, async () => (await fetch(`${healthUrl}/readyz`)).ok, READY_MS);
  return { ...program, port, healthUrl, metrics: `127.0.0.1:${metrics}` };
}
