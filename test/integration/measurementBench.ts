import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig, type V1PolicyRule } from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import { TRAFFIC_STACKS, type TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import type { BuiltInObject } from '../../src/controllers/contract/builtIn.ts';
import { builtInsOf } from '../../src/controllers/measurement/components/builtIns.ts';
import { allComponents, targetsComponent } from '../../src/controllers/measurement/components/components.ts';
import { createMeasurementController, type Measurement } from '../../src/controllers/measurement/module.ts';
import { defaultMeasurementOptions, type MeasurementOptions } from '../../src/controllers/measurement/options.ts';
import { exporterNamespace, FIELD_MANAGER } from '../../src/controllers/measurement/names.ts';
import { controllerRules, removalRules } from '../../src/controllers/measurement/rbac.ts';
import type { Rights } from '../../src/controllers/contract/rights.ts';
import { createInformer, type Informer } from '../../src/runtime/cache/informer.ts';
import { createClient, type Client } from '../../src/runtime/client/client.ts';
import { isNotFound } from '../../src/runtime/client/errors.ts';
import {
  keyOf,
  refOfKey,
  resourcePath,
  type KubeObject,
  type ObjectRef,
  type Resource,
} from '../../src/runtime/client/resource.ts';
import { CONFIG_MAPS, ENDPOINT_SLICES, NAMESPACES, PODS } from '../../src/runtime/client/resources.ts';
import { createTransport, type Transport, type TransportRequest } from '../../src/runtime/client/transport.ts';
import { startControlPlane, type ControlPlane } from '../harness/controlPlane.ts';
import { SLACK } from '../harness/slack.ts';
import { prometheusPod, sliceOf } from './measurementPods.ts';
import { whenAllowed } from './rights.ts';

/** A separate operator namespace on a control plane, in which a test starts measurement controllers. */
export interface Bench {
  /** The operator's namespace. */
  readonly namespace: string;
  readonly options: MeasurementOptions;
  /** With the rights of an administrator. */
  readonly client: Client;
  /** With the rights of the clean-up. */
  readonly remover: Client;
  /** The writes of the controllers, as 'PATCH /path'. */
  readonly writes: string[];
  /**
   * Starts a controller with only the rights of its RBAC rules, which are none on TrafficStacks: it is given the stack `default` of its options, or
   * with `readsStacks` reads them.
   */
  start(options?: MeasurementOptions, over?: { pod?: ObjectRef; readsStacks?: boolean }): Measurement;
  /** Resolves when the running controller has finished another full pass. */
  lookAgain(): Promise<void>;
  /** Resolves when a full pass has written nothing: while a cache does not have an object yet, it is applied again. */
  settled(): Promise<void>;
  /** Stops the running controller. */
  stop(): Promise<void>;
  /** All components and the ConfigMap of the targets, by 'Kind namespace/name'; undefined if missing. */
  all(): Promise<Record<string, KubeObject | undefined>>;
  /** Makes what a TrafficStack has, and resolves when all of these exist; rejects after the deadline. */
  deployed(within?: Patience): Promise<void>;
  /** The content of the target file: node name -> address. */
  targets(): Promise<Record<string, string>>;
  find<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): Promise<T | undefined>;
  addPrometheusPod(name: string): Promise<void>;
  /** Creates or replaces an EndpointSlice of the exporter with these nodes: node name -> address. */
  putSlice(name: string, endpoints: Record<string, string>, addressType?: 'IPv4' | 'IPv6'): Promise<void>;
  /** Removes the finalizer of a deleted namespace, as the namespace controller does once it is empty. */
  finalizeNamespace(name: string): Promise<void>;
  close(): Promise<void>;
}

/** Deadline and interval of awaited conditions, ms. */
interface Patience {
  readonly timeout: number;
  readonly interval: number;
}

/** The promise for drift and deletion is 10 s. Without a watch, they would be seen after a minute. */
export const HEALED: Patience = { timeout: Math.min(SLACK * 10_000, 30_000), interval: 50 };
/** A generous deadline, also for slow machines. */
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
 * One control plane for the tests of a file, and a separate bench for each test.
 *
 * @returns the bench of the current test
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
    start(changed = options, over = {}) {
      running = startController(limited, changed, over);
      return running.measurement;
    },
    async lookAgain() {
      // The first pass may have been running already.
      await nextRound(running!);
      await nextRound(running!);
    },
    async settled() {
      await vi.waitFor(async () => {
        const before = writes.length;
        await bench.lookAgain();
        expect(writes.slice(before)).toEqual([]);
      }, WAIT);
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
        const around = await bench.find(NAMESPACES, { name: exporterNamespace(namespace) });
        expect(around).toMatchObject({ status: { phase: 'Active' } });
      }, within);
      for (const { resource, object } of stackObjects(options)) {
        const isMissing = (await bench.find(resource, refOfKey(keyOf(object)))) === undefined;
        if (isMissing) await client.apply(resource, object, { fieldManager: FIELD_MANAGER });
      }
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

/** Components, targets of the nodes, and targets of the agents. */
const KEYS = 3;

interface RunningController {
  measurement: Measurement;
  /** The number of finished passes. */
  passes: () => number;
  stop: () => Promise<void>;
}

async function nextRound({ measurement, passes }: RunningController): Promise<void> {
  const before = passes();
  measurement.enqueueAll();
  while (passes() < before + KEYS || measurement.controller.queue.length > 0) await sleep(20);
}

function startController(
  transport: Transport,
  options: MeasurementOptions,
  { pod, readsStacks = false }: { pod?: ObjectRef; readsStacks?: boolean },
): RunningController {
  let passes = 0;
  const nothing = (): void => undefined;
  const queue = { depth: nothing, added: nothing, retried: nothing, taken: nothing };
  const controller = { reconciled: () => (passes += 1), failed: nothing, queue: () => queue };
  const informer = readsStacks
    ? createInformer({ transport, resource: TRAFFIC_STACKS, logger: LOGGER })
    : informerOf(defaultStackOf(options));
  const measurement = createMeasurementController({
    client: createClient(transport),
    transport,
    stacks: { informer, active: (all) => all },
    nodes: () => [],
    options,
    logger: LOGGER,
    metrics: { controller },
    ...(pod === undefined ? {} : { pod }),
  });
  const stopped = new AbortController();
  const running = [...measurement.informers, informer, measurement.controller].map((each) => each.run(stopped.signal));
  return {
    measurement,
    passes: () => passes,
    stop: async () => {
      stopped.abort();
      await Promise.all(running);
    },
  };
}

/** The objects of the stack `default` with these options. */
function stackObjects(options: MeasurementOptions): readonly BuiltInObject[] {
  return builtInsOf(options)
    .filter(({ isDeployed }) => isDeployed)
    .flatMap((each) => each.render({ name: each.type, type: each.type, ...each.settings }));
}

function defaultStackOf(options: MeasurementOptions): TrafficStack {
  const deployed = builtInsOf(options).filter(({ isDeployed }) => isDeployed);
  const components = deployed.map(({ type, settings }) => ({ name: type.toLowerCase(), type, ...settings }));
  return { metadata: { name: 'default' }, spec: { components } };
}

/** An informer that has this stack, and no other one. */
function informerOf(stack: TrafficStack): Informer<TrafficStack> {
  const lister = { get: () => stack, list: () => [stack], byIndex: () => [] };
  const done = (): Promise<void> => Promise.resolve();
  return {
    ...{ resource: TRAFFIC_STACKS, synced: true, lister, refusal: undefined, subscribe: () => () => undefined },
    ...{ whenSynced: done, whenSyncedOrRefused: done, run: done },
  };
}

/** Binds exactly the rules of the measurement, and waits until they are in force. */
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
