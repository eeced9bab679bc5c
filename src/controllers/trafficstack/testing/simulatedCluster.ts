import { isDeepStrictEqual } from 'node:util';
import type { V1Deployment } from '@kubernetes/client-node';
import { Registry } from 'prom-client';
import type { ComponentSpec, TrafficStack, TrafficStackStatus } from '../../../api/trafficstack/trafficStack.ts';
import { Applier } from '../../../runtime/apply/apply.ts';
import { createInformer } from '../../../runtime/cache/informer.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { keyOf, type KubeObject, type ObjectRef, type Resource } from '../../../runtime/client/resource.ts';
import type { Transport } from '../../../runtime/client/transport.ts';
import { PacedQueue } from '../../../runtime/controller/workqueue.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { Renderings } from '../desired.ts';
import { createTrafficStackMetrics } from '../metrics.ts';
import type { AllowedNamespaces } from '../model/allowed.ts';
import type { Answer } from '../model/observation.ts';
import { COMPONENT_LABEL, FINALIZER } from '../names.ts';
import type { Caches } from '../observe/caches.ts';
import { FirstSeen } from '../observe/firstSeen.ts';
import { ForeignObjects } from '../observe/foreignObjects.ts';
import { RecentCalls } from '../observe/recentCalls.ts';
import { reconcile, type Dependencies } from '../reconcile.ts';
import { RESOURCES } from '../render/kinds.ts';
import { EVERYWHERE, live, stackOf } from './stacks.ts';

/** The end of the operator in the middle of its work. */
class Killed extends Error {}

/** The objects of a stack in memory, with an operator that can be killed before each of its writes. */
export class SimulatedCluster {
  /** Objects by kind and key. */
  readonly objects = new Map<string, KubeObject>();
  stack: TrafficStack | undefined;
  /** When the last reconcile that was not killed wants the next one, ms. */
  resyncMs: number | undefined;
  /** Called before an object is written. */
  onApply: (object: KubeObject) => void = () => undefined;
  /** Returns the present verdict of a query. */
  isTrue: (query: string) => boolean = () => true;
  /** Answers of foreign servers and of programs on the nodes. */
  asks: Pick<Dependencies, 'probes' | 'listeners'> = {
    probes: { proof: () => Promise.resolve({ is: 'Proven' }) },
    listeners: { ask: ({ port }) => Promise.resolve({ port, queried: 0, answering: [] }) },
  };
  /** Where the operator may write. */
  allowed: AllowedNamespaces = EVERYWHERE;
  /** The number of nodes that can be measured. */
  measurable = 3;
  /** Foreign objects of any kind: lists have only these. */
  theirs: readonly KubeObject[] = [];
  /** The Events about the stack. */
  readonly told: string[] = [];
  /** Why the status cannot be written. */
  statusRefusal: Error | undefined;
  readonly clock = new FakeClock();
  readonly #metrics = createTrafficStackMetrics(new Registry());
  readonly #logger = createLogger('silent');
  readonly #available = new Set<string>();
  /** Writes until the operator is killed. */
  #left = Infinity;
  #uids = 0;
  /** Each look at the monotonic clock is later than the one before. ms */
  #ticks = 0;
  /** Answers by query. A new operator has none, nor first observations. */
  #answers = new Map<string, { answer: Answer; neededSince: number }>();
  #firstSeen = new FirstSeen({ monotonic: () => this.#tick() });
  /** No watch is answered, so foreign objects are read. */
  readonly #foreignObjects = new ForeignObjects({
    client: {
      get: <T extends KubeObject>(resource: Resource<T>, ref: ObjectRef) =>
        Promise.resolve().then(() => this.#get(resource, ref) as T),
      list: <T extends KubeObject>() => Promise.resolve(this.theirs as T[]),
    },
    clock: this.clock,
    isLeader: () => true,
    changed: new PacedQueue({ addAfter: () => undefined }, this.clock),
    create: (selection) =>
      createInformer({
        ...{ ...selection, clock: this.clock, logger: this.#logger },
        transport: { stream: () => new Promise(() => undefined) } as unknown as Transport,
      }),
  });

  readonly #builtIns: readonly BuiltIn[];

  constructor(components: readonly ComponentSpec[], builtIns: readonly BuiltIn[] = []) {
    this.#builtIns = builtIns;
    const stack = stackOf(components);
    this.stack = { ...stack, metadata: { ...stack.metadata, finalizers: [FINALIZER] } };
    this.stack.spec.upgrade = { rollback: true };
  }

  get status(): TrafficStackStatus {
    return this.stack?.status ?? {};
  }

  change(components: readonly ComponentSpec[]): void {
    if (this.stack !== undefined)
      this.stack = { ...this.stack, spec: { ...this.stack.spec, components: [...components] } };
  }

  delete(): void {
    if (this.stack === undefined) return;
    this.stack = { ...this.stack, metadata: { ...this.stack.metadata, deletionTimestamp: new Date(0) } };
  }

  /** Returns the image of a component's Deployment; undefined if there is none. */
  imageOf(component: string): string | undefined {
    const found = this.objects.get(`Deployment shop/${component}`);
    return found && imageIn(found);
  }

  isAvailable(component: string): boolean {
    return this.#available.has(component);
  }

  /** The pods of a Deployment become available, or stop being so. */
  turn(component: string, isAvailable: boolean): void {
    const id = `Deployment shop/${component}`;
    const found = this.objects.get(id);
    if (found === undefined) return;
    if (isAvailable) this.#available.add(component);
    else this.#available.delete(component);
    this.objects.set(id, withStatus(found, isAvailable));
  }

  /** Sends new and requested queries, as an AnswerFeed does at a tick. @param isDue whether it asks all */
  ask(isDue = false): void {
    for (const [query, tracked] of this.#answers) {
      const { answer, neededSince } = tracked;
      if (!isDue && answer.is !== 'Pending' && answer.sentAt >= neededSince) continue;
      const verdict = this.isTrue(query) ? { is: 'True' as const } : { is: 'False' as const, message: 'gives 0' };
      tracked.answer = { ...verdict, sentAt: this.#tick() };
    }
  }

  #tick(): number {
    return this.clock.monotonic() + (this.#ticks += 1);
  }

  #tracked(query: string) {
    const tracked = this.#answers.get(query) ?? { answer: { is: 'Pending' }, neededSince: 0 };
    this.#answers.set(query, tracked);
    return tracked;
  }

  /** Reconciles once. After a kill, a new operator does. @param writes until it is killed @returns whether it was not killed */
  async reconcile(writes = Infinity): Promise<boolean> {
    this.#left = writes;
    try {
      this.resyncMs = (await reconcile(this.#dependencies(), 'main'))?.requeueAfterMs;
    } catch (error) {
      if (this.#left >= 0) throw error;
      this.#answers.clear();
      this.#firstSeen.forget('main');
    }
    return this.#left >= 0;
  }

  /** @throws Killed */
  #write(): void {
    this.#left -= 1;
    if (this.#left < 0) throw new Killed();
  }

  #dependencies(): Dependencies {
    const client = {
      get: (resource: Resource, ref: ObjectRef) => Promise.resolve().then(() => this.#get(resource, ref)),
      apply: (_: Resource, object: KubeObject) => Promise.resolve().then(() => this.#apply(object)),
      delete: (resource: Resource, ref: ObjectRef) => Promise.resolve().then(() => this.#delete(resource, ref)),
      // Only the finalizer is patched.
      mergePatch: () => Promise.resolve().then(() => this.#release()),
    } as unknown as Client;
    const applier = new Applier({ client, fieldManager: 'x', logger: this.#logger });
    const caches = this.#caches();
    return {
      client,
      caches,
      writers: {
        ...{ client, applierOf: () => applier, caches, applying: new Set(), clock: this.clock },
        deletions: new RecentCalls(this.clock),
        events: { event: () => undefined },
      },
      answers: {
        answer: (query) => this.#tracked(query).answer,
        requery: (query, since) => void (this.#tracked(query).neededSince = since),
      },
      nodes: { get: () => undefined },
      firstSeen: this.#firstSeen,
      renderings: new Renderings({ countNodes: () => 0, builtIns: this.#builtIns }),
      allowed: this.allowed,
      refusalOf: () => undefined,
      podReader: { read: () => Promise.resolve([]) },
      eventReader: { read: () => Promise.resolve([]) },
      foreignObjects: this.#foreignObjects,
      nameFound: () => Promise.resolve(),
      ...this.asks,
      measurable: () => this.measurable,
      stacks: { wrote: () => undefined },
      statuses: {
        newest: () => this.stack,
        write: (_, status) => Promise.resolve().then(() => this.#report(status)),
        forget: () => undefined,
      },
      events: { event: (_, type, reason, note) => void this.told.push(`${type} ${reason}: ${note}`) },
      metrics: this.#metrics,
      clock: { now: () => this.clock.now(), monotonic: () => this.#tick() },
      isLeader: () => true,
    };
  }

  #caches(): Caches {
    const kinds = RESOURCES.map((resource) => ({
      ...{ resource, informer: { synced: true, resource } },
      overlay: { get: (key: string) => this.objects.get(`${resource.kind} ${key}`), wrote: () => undefined },
    }));
    return { kinds, pods: { synced: true, lister: { byIndex: () => [] } } } as unknown as Caches;
  }

  #get({ kind, plural }: Resource, ref: ObjectRef): KubeObject {
    const found = this.objects.get(`${kind} ${keyOf({ metadata: ref })}`);
    if (found === undefined) throw new ApiError({ status: 404, reason: 'NotFound', method: 'GET', path: plural });
    return found;
  }

  #apply(object: KubeObject): KubeObject {
    this.#write();
    this.onApply(object);
    const id = `${object.kind} ${keyOf(object)}`;
    const before = this.objects.get(id);
    const uid = before?.metadata?.uid ?? `uid-${(this.#uids += 1)}`;
    const written = { ...object, metadata: { ...object.metadata, uid } };
    const component = object.metadata?.labels?.[COMPONENT_LABEL] ?? '';
    if (object.kind === 'Deployment' && imageIn(object) !== (before && imageIn(before)))
      this.#available.delete(component);
    this.objects.set(id, object.kind === 'Deployment' ? withStatus(written, this.#available.has(component)) : written);
    return written;
  }

  #delete({ kind }: Resource, ref: ObjectRef): void {
    this.#write();
    this.objects.delete(`${kind} ${keyOf({ metadata: ref })}`);
  }

  #release(): void {
    this.#write();
    this.stack = undefined;
  }

  #report(status: TrafficStackStatus): boolean {
    if (isDeepStrictEqual(status, this.stack?.status)) return false;
    if (this.statusRefusal !== undefined) throw this.statusRefusal;
    this.#write();
    // The API server orders fields by their names.
    if (this.stack !== undefined) this.stack = { ...this.stack, status: ordered(status) };
    return true;
  }
}

function withStatus(object: KubeObject, isAvailable: boolean): KubeObject {
  const { metadata } = object;
  const seen = live(object, isAvailable ? 2 : 0);
  return { ...seen, metadata: { ...metadata, generation: 1 } };
}

/** Returns the image of the first container. */
export function imageIn(object: KubeObject): string {
  return (object as V1Deployment).spec?.template.spec?.containers[0]?.image ?? '';
}

/** Sorts the fields of all objects by name. */
function ordered<T>(value: T): T {
  const sorted = (_: string, field: unknown): unknown =>
    field === null || typeof field !== 'object' || Array.isArray(field)
      ? field
      : Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.parse(JSON.stringify(value, sorted)) as T;
}
