import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import type { V1EndpointSlice, V1Pod, V1PolicyRule } from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import { allComponents } from '../../src/controllers/measurement/components/components.ts';
import { createMeasurementController } from '../../src/controllers/measurement/controller.ts';
import type { Measurement } from '../../src/controllers/measurement/controller.ts';
import { prometheusSelector } from '../../src/controllers/measurement/components/prometheus.ts';
import { targetsComponent } from '../../src/controllers/measurement/components/targets.ts';
import { defaultMeasurementOptions } from '../../src/controllers/measurement/options.ts';
import type { MeasurementOptions } from '../../src/controllers/measurement/options.ts';
import { controllerRules, removalRules } from '../../src/controllers/measurement/rbac.ts';
import type { Rights } from '../../src/controllers/contract/rights.ts';
import { createClient } from '../../src/runtime/client/client.ts';
import type { Client } from '../../src/runtime/client/client.ts';
import { isNotFound } from '../../src/runtime/client/errors.ts';
import { keyOf, refOfKey, resourcePath } from '../../src/runtime/client/resource.ts';
import type { KubeObject, ObjectRef, Resource } from '../../src/runtime/client/resource.ts';
import { CONFIG_MAPS, ENDPOINT_SLICES, NAMESPACES, PODS } from '../../src/runtime/client/resources.ts';
import { createTransport } from '../../src/runtime/client/transport.ts';
import type { Transport, TransportRequest } from '../../src/runtime/client/transport.ts';
import { startControlPlane, type ControlPlane } from '../harness/controlPlane.ts';
import { whenAllowed } from './rights.ts';

/** An operator's namespace of its own on a control plane, and measurement controllers in it on demand. */
export interface Bench {
  /** The operator's namespace. */
  readonly namespace: string;
  readonly options: MeasurementOptions;
  /** An administrator's. */
  readonly client: Client;
  /** With the rights of the clean-up. */
  readonly remover: Client;
  /** What the controllers asked the API server to change, as 'PATCH /path'. */
  readonly writes: string[];
  /** Starts a controller with the rights of its RBAC rules and no others. */
  start(options?: MeasurementOptions, pod?: ObjectRef): Measurement;
  /** Resolves when the running controller has looked at everything again. */
  lookAgain(): Promise<void>;
  /** Ends the controller that runs. */
  stop(): Promise<void>;
  /** Every component and the ConfigMap of the targets, by 'Kind namespace/name'; undefined where it is missing. */
  all(): Promise<Record<string, KubeObject | undefined>>;
  /** Resolves when all of these are there; throws when they are not in time. */
  deployed(within?: Patience): Promise<void>;
  /** What the target file says, node name -> address. */
  targets(): Promise<Record<string, string>>;
  find<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): Promise<T | undefined>;
  addPrometheusPod(name: string): Promise<void>;
  /** Makes or replaces an EndpointSlice of the exporter with these nodes, node name -> address. */
  putSlice(name: string, endpoints: Record<string, string>, addressType?: 'IPv4' | 'IPv6'): Promise<void>;
  /** Lets a namespace that is being deleted go, as the namespace controller does once it is empty. */
  finalizeNamespace(name: string): Promise<void>;
  close(): Promise<void>;
}

/** For how long a condition is awaited, and how often it is looked at. Milliseconds. */
interface Patience {
  readonly timeout: number;
  readonly interval: number;
}

/** What is promised for drift and deletion. */
export const HEALED: Patience = { timeout: 10_000, interval: 50 };
/** For what has to come, on whatever machine. */
export const WAIT: Patience = { timeout: 90_000, interval: 50 };

const LOGGER = pino({ level: process.env.LOG_LEVEL ?? 'silent' });
const PERSON = { fieldManager: 'person', force: true };
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };

function transportFor(kubeconfig: string): Transport {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(kubeconfig);
  return createTransport({ kubeConfig, logger: LOGGER });
}

function recordingWrites(transport: Transport, writes: string[]): Transport {
  return {
    request: <R>(request: TransportRequest) => {
      if (request.method !== 'GET') writes.push(`${request.method} ${request.path}`);
      return transport.request<R>(request);
    },
    stream: (request) => transport.stream(request),
    whenReachable: (signal) => transport.whenReachable(signal),
    close: () => transport.close(),
  };
}

/**
 * One control plane for the tests of a file, and a bench of its own for each of them.
 *
 * @returns the bench of the test that runs
 */
export function useBench(): () => Bench {
  let plane: ControlPlane;
  let bench: Bench;
  let count = 0;
  beforeAll(async () => {
    plane = await startControlPlane();
  });
  afterAll(() => plane.stop());
  beforeEach(async () => {
    bench = await createBench(plane, `op-${++count}`);
  });
  afterEach(() => bench.close());
  return () => bench;
}

async function createBench(plane: ControlPlane, namespace: string): Promise<Bench> {
  const admin = transportFor(plane.kubeconfig);
  const client = createClient(admin);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await client.create(NAMESPACES, { metadata: { name: namespace, labels } });
  const writes: string[] = [];
  await grant(client, namespace, `operator-of-${namespace}`, controllerRules(namespace));
  const limited = recordingWrites(transportFor(await plane.user(`operator-of-${namespace}`)), writes);
  await grant(client, namespace, `cleanup-of-${namespace}`, removalRules(namespace));
  const remover = transportFor(await plane.user(`cleanup-of-${namespace}`));
  const options = defaultMeasurementOptions(namespace);
  let running: RunningController | undefined;

  const bench: Bench = {
    namespace,
    options,
    client,
    remover: createClient(remover),
    writes,
    start(changed = options, pod?: ObjectRef) {
      running = startController(limited, changed, pod);
      return running.measurement;
    },
    async lookAgain() {
      // The first round may have been under way already.
      await nextRound(running!);
      await nextRound(running!);
    },
    async stop() {
      await running?.stop();
      running = undefined;
    },
    async all() {
      const objects: Record<string, KubeObject | undefined> = {};
      for (const { resource, object } of [...allComponents(options), targetsComponent(options, 0, {})]) {
        objects[`${resource.kind} ${keyOf(object)}`] = await bench.find(resource, refOfKey(keyOf(object)));
      }
      return objects;
    },
    async deployed(within = WAIT) {
      await vi.waitFor(async () => {
        const missing = Object.entries(await bench.all()).filter(([, object]) => object === undefined);
        expect(missing.map(([id]) => id)).toEqual([]);
      }, within);
    },
    async targets() {
      const map = await bench.find(CONFIG_MAPS, { namespace, name: 'prometheus-targets' });
      const groups = JSON.parse(map?.data?.['targets.json'] ?? '[]') as {
        targets: [string];
        labels: { node: string };
      }[];
      return Object.fromEntries(groups.map(({ targets, labels: { node } }) => [node, targets[0]]));
    },
    find: (resource, ref) =>
      client.get(resource, ref).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      }),
    async addPrometheusPod(name) {
      await client.create(PODS, prometheusPod(namespace, name));
    },
    async putSlice(name, endpoints, addressType = 'IPv4') {
      await client.apply(ENDPOINT_SLICES, sliceOf(namespace, name, endpoints, addressType), PERSON);
    },
    async finalizeNamespace(name) {
      const path = resourcePath(NAMESPACES, { name }, 'finalize');
      await admin.request({
        method: 'PUT',
        path,
        body: { kind: 'Namespace', apiVersion: 'v1', metadata: { name }, spec: {} },
      });
    },
    async close() {
      await bench.stop();
      await Promise.all([limited.close(), remover.close(), admin.close()]);
    },
  };
  return bench;
}

interface RunningController {
  measurement: Measurement;
  /** How many passes have ended. */
  passes: () => number;
  stop: () => Promise<void>;
}

async function nextRound({ measurement, passes }: RunningController): Promise<void> {
  const before = passes();
  measurement.enqueueAll();
  while (passes() < before + 2 || measurement.controller.queue.length > 0) await sleep(20);
}

function startController(
  transport: Transport,
  options: MeasurementOptions,
  pod: ObjectRef | undefined,
): RunningController {
  let passes = 0;
  const nothing = (): void => undefined;
  const queue = { depth: nothing, added: nothing, retried: nothing, taken: nothing };
  const controller = { reconciled: () => (passes += 1), failed: nothing, queue: () => queue };
  const measurement = createMeasurementController({
    client: createClient(transport),
    transport,
    options,
    logger: LOGGER,
    metrics: { controller },
    ...(pod === undefined ? {} : { pod }),
  });
  const stopped = new AbortController();
  const running = [...measurement.informers, measurement.controller].map((each) => each.run(stopped.signal));
  return {
    measurement,
    passes: () => passes,
    stop: async () => {
      stopped.abort();
      await Promise.all(running);
    },
  };
}

/** Binds exactly the rules that the measurement says it needs, and waits until they are in force. */
async function grant(client: Client, namespace: string, name: string, rules: Rights): Promise<void> {
  const subjects = [{ kind: 'User', name, apiGroup: RBAC.group }];
  const bind = async (kind: 'Role' | 'ClusterRole', policy: readonly V1PolicyRule[], where: object): Promise<void> => {
    const plural = kind.toLowerCase();
    const namespaced = kind === 'Role';
    const role = { metadata: { name, ...where }, rules: policy };
    const binding = { metadata: { name, ...where }, subjects, roleRef: { apiGroup: RBAC.group, kind, name } };
    await client.create({ ...RBAC, kind, plural: `${plural}s`, namespaced }, role);
    await client.create({ ...RBAC, kind: `${kind}Binding`, plural: `${plural}bindings`, namespaced }, binding);
  };
  await bind('ClusterRole', rules.cluster, {});
  await bind('Role', rules.own, { namespace });
  await Promise.all([
    ...rules.cluster.slice(0, 1).map((rule) => whenAllowed(client, name, rule)),
    ...rules.own.slice(0, 1).map((rule) => whenAllowed(client, name, rule, { namespace })),
  ]);
}

function prometheusPod(namespace: string, name: string): V1Pod {
  const securityContext = {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  };
  return {
    metadata: { namespace, name, labels: prometheusSelector(namespace) },
    spec: { containers: [{ name: 'prometheus', image: 'prometheus', securityContext }] },
  };
}

function sliceOf(
  namespace: string,
  name: string,
  endpoints: Record<string, string>,
  addressType: 'IPv4' | 'IPv6',
): V1EndpointSlice {
  return {
    metadata: {
      namespace: `${namespace}-node-exporter`,
      name,
      labels: { 'kubernetes.io/service-name': 'node-exporter' },
    },
    addressType,
    ports: [{ name: 'metrics', port: 9100, protocol: 'TCP' }],
    endpoints: Object.entries(endpoints).map(([nodeName, address]) => ({ nodeName, addresses: [address] })),
  };
}
