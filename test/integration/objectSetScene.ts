import type { V1ConfigMap, V1Service } from '@kubernetes/client-node';
import { Applier } from '../../src/runtime/apply/apply.ts';
import type { Client } from '../../src/runtime/client/client.ts';
import { keyOf, refOfKey, type KubeObject } from '../../src/runtime/client/resource.ts';
import { CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS, SERVICES } from '../../src/runtime/client/resources.ts';
import { Controller } from '../../src/runtime/controller/controller.ts';
import { carryOut } from '../../src/runtime/objectSet/act.ts';
import { idFor, idOf, type Member, createObjectSet, type ObjectSet } from '../../src/runtime/objectSet/objectSet.ts';
import { observeSet, readLive, watchMembers } from '../../src/runtime/objectSet/observe.ts';
import { planSet, type SwitchedOff, writeProblem } from '../../src/runtime/objectSet/plan.ts';
import type { Problem } from '../../src/runtime/process/problem.ts';
import { createLogger } from '../../src/runtime/process/logger.ts';
import type { Connected } from '../harness/runtimeScene.ts';

/** The one group of the set: its Service. */
export type Group = 'web';

const LABELS = { 'example.com/set': 'made-up' };
const logger = createLogger(process.env.LOG_LEVEL ?? 'silent');

/**
 * An example set, declared in an order in which it cannot be created: a Namespace with a ServiceAccount and a Service, which
 * depends on a ConfigMap in another namespace.
 *
 * @param name of the Namespace and of everything in the set
 * @param settings the ConfigMap's data
 */
export function madeUpSet(name: string, settings: Record<string, string> = { colour: 'red' }): ObjectSet<Group> {
  const labels = LABELS;
  const service: V1Service = { metadata: { name, namespace: name, labels }, spec: { ports: [{ port: 80 }] } };
  const config: V1ConfigMap = { metadata: { name, namespace: 'default', labels }, data: settings };
  const dependsOn = [idFor(CONFIG_MAPS, { namespace: 'default', name })];
  return createObjectSet<Group>({ labels }, [
    { group: 'web', resource: SERVICES, object: service, dependsOn },
    { resource: CONFIG_MAPS, object: config },
    { resource: SERVICE_ACCOUNTS, object: { metadata: { name, namespace: name, labels } } },
    { resource: NAMESPACES, object: { metadata: { name, labels } } },
  ]);
}

/** A controller of a set. */
export interface Keeper {
  /**
   * 'apply Service a/a', 'delete ...' since the last `forget`, each once, in the order of the first: while a cache does not
   * have an object yet, it is applied again, which changes nothing.
   */
  readonly writes: readonly string[];
  forget(): void;
  /** 'ForeignObject Service a/a', of the last pass. */
  readonly problems: readonly string[];
  /** Whether the last pass waited for a deletion. */
  readonly waiting: boolean;
  /** Whether the caches have every object of the set as the API server has it. */
  isCurrent(): Promise<boolean>;
  /** Resolves when a pass that begins now has ended. */
  lookAgain(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a controller that uses everything that the runtime offers for sets. */
export async function keep(
  { transport, client }: Connected,
  set: ObjectSet<Group>,
  off: SwitchedOff<Group> = new Set(),
): Promise<Keeper> {
  const state = { writes: [] as string[], problems: [] as string[], waiting: false };
  const recording = recordingWrites(client, state.writes);
  const caches = watchMembers(set.members, { transport, logger });
  const applier = new Applier({ client: recording, fieldManager: 'traffic-operator-test', logger });
  const once = async (): Promise<void> => {
    const live = (member: Member): ReturnType<typeof caches.live> => caches.live(member);
    const strangersIn = (namespace: string): Promise<string[]> => strangers(client, namespace);
    const plan = planSet(await observeSet(set, off, { live, unknown: caches.unknownGroups(), strangersIn }));
    const failures = await carryOut(plan, { applier, client: recording });
    const failed = failures.map(({ member, error }) => writeProblem(member, error));
    state.problems = [...plan.problems, ...failed].map(({ reason, object }: Problem) => `${reason} ${object}`);
    state.waiting = plan.waiting;
  };
  let last = Promise.resolve();
  const pass = (): Promise<void> => (last = last.catch(() => undefined).then(once));
  const controller = new Controller({ name: 'made-up', reconcile: () => pass().then(() => ({})), logger });
  const end = new AbortController();
  const running = caches.informers.map((informer) => informer.run(end.signal));
  await Promise.all(caches.informers.map((informer) => informer.whenSynced()));
  for (const informer of caches.informers) informer.subscribe(() => controller.queue.add('set'));
  controller.queue.add('set');
  running.push(controller.run(end.signal));
  return {
    get writes() {
      return [...new Set(state.writes)];
    },
    forget: () => void state.writes.splice(0),
    get problems() {
      return state.problems;
    },
    get waiting() {
      return state.waiting;
    },
    async isCurrent() {
      const current = await Promise.all(set.members.map((member) => readLive(client, member)));
      return set.members.every((member, index) => versionOf(caches.live(member)) === versionOf(current[index]));
    },
    lookAgain: pass,
    async stop() {
      end.abort();
      await Promise.all(running);
    },
  };
}

function versionOf(object: KubeObject | undefined): string | undefined {
  return object?.metadata?.resourceVersion;
}

/** ConfigMaps that do not belong to the set. */
async function strangers(client: Client, namespace: string): Promise<string[]> {
  const maps = await client.list(CONFIG_MAPS, { namespace });
  return maps.filter(({ metadata }) => metadata?.labels === undefined).map(keyOf);
}

function recordingWrites(client: Client, writes: string[]): Client {
  return {
    ...client,
    apply: (resource, object, options) => {
      writes.push(`apply ${idOf({ resource, object })}`);
      return client.apply(resource, object, options);
    },
    delete: (resource, ref, options) => {
      writes.push(`delete ${idFor(resource, ref)}`);
      return client.delete(resource, ref, options);
    },
  };
}

/** The object of a set's member as the API server has it now. */
export function liveOf<T extends object>({ client }: Connected, set: ObjectSet<Group>, kind: string): Promise<T> {
  const { resource, object } = set.members.find((member) => member.resource.kind === kind)!;
  return client.get(resource, refOfKey(keyOf(object))) as Promise<object> as Promise<T>;
}
