import { isDeepStrictEqual } from 'node:util';
import type {
  ApplyOptions,
  CallOptions,
  Client,
  CreateOptions,
  DeleteOptions,
  JsonPatchOperation,
  JsonPatchOptions,
  ListOptions,
  MergePatchOptions,
} from '../../client/client.ts';
import { ApiError, TransportError } from '../../client/errors.ts';
import { apiVersionOf, keyOf, refOfKey } from '../../client/resource.ts';
import type { KubeObject, ObjectRef, Resource } from '../../client/resource.ts';
import { NODES } from '../../client/resources.ts';
import { lineOf, refusal, type Call } from './call.ts';
import { matches } from './selector.ts';
import { applyJsonPatch, PatchFailure, applied, FieldConflict, patched, updated } from './writes.ts';
import type { Writer } from './fieldOwners.ts';

export { refusal, type Call } from './call.ts';

/** A change of an object, as a watch tells it. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

type Part = 'main' | 'status';
/** Fields that a write of the main resource leaves alone, and the only ones that a write of the status changes. */
const STATUS = 'status';

/**
 * An API server in memory, as far as tests of the operator's own code need one: versions, uids, generations, field
 * owners, preconditions, finalizers and the status subresource. It has no schemas, defaults, admission or garbage
 * collection, and takes every list but the owner references for atomic: what depends on these is tested against a real API server
 * (test/integration).
 */
export class FakeApi implements Client {
  /** Every call so far, refused ones too. */
  readonly calls: Call[] = [];
  /** The stored objects, by 'Kind namespace/name'. A test may put objects here, without versions and watch events. */
  readonly objects = new Map<string, KubeObject>();
  /** Called before each answer: what it throws or rejects with is the answer, and what it returns is awaited. */
  intercept: (call: Call) => Promise<unknown> | undefined = () => undefined;
  /** Returns what the API server stores of a written object: a CRD without some fields drops them. */
  prune: <T extends KubeObject>(object: T) => T = (object) => object;
  /** Writes that were let through: 'apply Service op/prometheus', 'patch Node n1 {"metadata":...}'. */
  readonly writes: string[] = [];
  readonly #watchers = new Set<(kind: string, change: Change) => void>();
  #version = 1_000;

  constructor(...there: KubeObject[]) {
    for (const object of there) this.objects.set(`${object.kind ?? ''} ${keyOf(object)}`, object);
    // Bound like the closures of the real client: code copies a client with `...client` to replace one method.
    this.get = this.get.bind(this);
    this.list = this.list.bind(this);
    this.create = this.create.bind(this);
    this.apply = this.apply.bind(this);
    this.mergePatch = this.mergePatch.bind(this);
    this.jsonPatch = this.jsonPatch.bind(this);
    this.delete = this.delete.bind(this);
  }

  /** The resource version of the newest write. */
  get version(): string {
    return String(this.#version);
  }

  /** Tells of each change of a kind from now on. Returns how to end it. */
  watch(resource: Resource, listener: (change: Change) => void): () => void {
    const watcher = (kind: string, change: Change): void => {
      if (kind === resource.kind) listener(change);
    };
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** The object, undefined when there is none. */
  object<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): T | undefined {
    return this.objects.get(idOf(resource, ref)) as T | undefined;
  }

  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T> {
    const call: Call = { verb: 'get', resource, what: resource.kind, ...ref, options };
    return this.#answer(call, () => this.#existing(call) as T);
  }

  list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<T[]> {
    const call: Call = { verb: 'list', resource, what: resource.kind, name: '', namespace: options.namespace, options };
    return this.#answer(call, () => {
      const ofKind = [...this.objects].filter(([id]) => id.startsWith(`${resource.kind} `)).map(([, each]) => each);
      return ofKind.filter((each) => matches(each, options)) as T[];
    });
  }

  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: CreateOptions): Promise<T> {
    const call: Call = { verb: 'create', resource, what: resource.kind, ...refOf(object), body: object, options };
    return this.#answer(call, () => {
      if (this.object(resource, refOf(object)) !== undefined) throw refusal(call, 409, 'AlreadyExists');
      const { metadata } = object;
      const empty: KubeObject = { metadata: { name: metadata?.name, namespace: metadata?.namespace } };
      // A kubelet creates its Node with a status; of every other kind the API server clears it.
      const created = (resource.kind === NODES.kind ? object : partOf(object, 'main')) as KubeObject;
      return this.#store(call, updated(empty, created, writerOf(resource, 'Update', options?.fieldManager))) as T;
    });
  }

  apply<T extends KubeObject>(resource: Resource<T>, object: T, options: ApplyOptions): Promise<T> {
    const { subresource, fieldManager, force = false, dryRun } = options;
    const what = subresource === undefined ? resource.kind : `${resource.kind}/${subresource}`;
    const call: Call = { verb: 'apply', resource, what, ...refOf(object), body: object, options };
    return this.#answer(call, () => {
      const current = this.object(resource, refOf(object)) ?? { metadata: object.metadata };
      this.#checkVersion(call, object);
      const writer = writerOf(resource, 'Apply', fieldManager, subresource);
      const desired = partOf(object, subresource === STATUS ? 'status' : 'main') as KubeObject;
      const after = conflictsOf(call, () => applied(current, desired, writer, force));
      return (dryRun === true ? after : this.#store(call, after)) as T;
    });
  }

  mergePatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: unknown,
    options: MergePatchOptions,
  ): Promise<T> {
    const { subresource, fieldManager } = options;
    const what = subresource === undefined ? resource.kind : `${resource.kind}/${subresource}`;
    const call: Call = { verb: 'patch', resource, what, ...ref, body: patch, options };
    return this.#answer(call, () => {
      const current = this.#existing(call);
      this.#checkVersion(call, patch as KubeObject);
      const writer = writerOf(resource, 'Update', fieldManager, subresource);
      const part: Part = subresource === STATUS ? 'status' : 'main';
      return this.#store(call, patched(current, partOf(patch, part), writer)) as T;
    });
  }

  jsonPatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    operations: readonly JsonPatchOperation[],
    { fieldManager, ...options }: JsonPatchOptions,
  ): Promise<T> {
    const call: Call = { verb: 'patch', resource, what: resource.kind, ...ref, body: operations, options };
    return this.#answer(call, () => {
      const current = this.#existing(call);
      const after = unlessFailed(call, () => applyJsonPatch(current, operations));
      return this.#store(call, updated(current, after, writerOf(resource, 'Update', fieldManager))) as T;
    });
  }

  delete(resource: Resource, ref: ObjectRef, options?: DeleteOptions): Promise<void> {
    const call: Call = { verb: 'delete', resource, what: resource.kind, ...ref, options };
    return this.#answer(call, () => {
      const current = this.object(resource, ref);
      const { uid, resourceVersion } = options?.preconditions ?? {};
      if (current === undefined) return;
      if (differs(uid, current.metadata?.uid) || differs(resourceVersion, current.metadata?.resourceVersion)) {
        throw refusal(call, 409, 'Conflict');
      }
      const deletionTimestamp = current.metadata?.deletionTimestamp ?? new Date(0);
      this.#store(call, { ...current, metadata: { ...current.metadata, deletionTimestamp } });
    });
  }

  async #answer<R>(call: Call, make: () => R): Promise<R> {
    this.calls.push(call);
    call.options?.guard?.();
    const waiting = this.intercept(call);
    if (waiting !== undefined) await waiting;
    if (call.options?.signal?.aborted === true) throw new TransportError('aborted', { failure: 'aborted' });
    if (call.verb !== 'get' && call.verb !== 'list') this.writes.push(lineOf(call));
    // As over a connection: neither side sees what the other does to its object later.
    return structuredClone(make());
  }

  #existing(call: Call): KubeObject {
    const found = this.object(call.resource, call);
    if (found === undefined) throw refusal(call, 404, 'NotFound');
    return found;
  }

  /** A version in what is written is a precondition; a uid cannot be changed. */
  #checkVersion(call: Call, { metadata }: KubeObject): void {
    const current = this.object(call.resource, call)?.metadata;
    if (current === undefined) return;
    if (differs(metadata?.resourceVersion, current.resourceVersion)) throw refusal(call, 409, 'Conflict');
    if (differs(metadata?.uid, current.uid)) throw refusal(call, 422, 'Invalid');
  }

  /** Keeps an object with a new version, or ends it when it is being deleted and nothing holds it. */
  #store(call: Call, written: KubeObject): KubeObject {
    const { resource } = call;
    const object = this.prune(structuredClone(written));
    const before = this.object(resource, call);
    if (before !== undefined && isDeepStrictEqual(before, object)) return before;
    const resourceVersion = String(++this.#version);
    const generation = generationOf(before, object);
    const uid = before?.metadata?.uid ?? object.metadata?.uid ?? `uid-${resourceVersion}`;
    const metadata = { ...object.metadata, uid, resourceVersion, generation };
    const after: KubeObject = { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
    const isGone = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    if (isGone) this.objects.delete(idOf(resource, call));
    else this.objects.set(idOf(resource, call), after);
    const type = isGone ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED';
    for (const tell of this.#watchers) tell(resource.kind, { type, object: structuredClone(after) });
    return after;
  }
}

function conflictsOf<R>(call: Call, make: () => R): R {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof FieldConflict)) throw error;
    const { message, field, manager } = error;
    const causes = [{ reason: 'FieldManagerConflict', message: `conflict with "${manager}"`, field }];
    const { status, method, path } = refusal(call, 409, 'Conflict');
    throw new ApiError({ status, reason: 'Conflict', detail: message, method, path, causes });
  }
}

function unlessFailed<R>(call: Call, make: () => R): R {
  try {
    return make();
  } catch (error) {
    throw error instanceof PatchFailure ? refusal(call, 422, 'Invalid', error.message) : error;
  }
}

function partOf(patch: unknown, part: Part): unknown {
  const { status, ...rest } = patch as Record<string, unknown>;
  return part === 'main' ? rest : { status };
}

/** Counts changes of what is wanted: all but metadata and status. */
function generationOf(before: KubeObject | undefined, after: KubeObject): number {
  const generation = before?.metadata?.generation ?? 0;
  const wanted = (object: KubeObject | undefined): object => ({ ...object, metadata: undefined, status: undefined });
  return isDeepStrictEqual(wanted(before), wanted(after)) ? generation : generation + 1;
}

function writerOf(resource: Resource, operation: Writer['operation'], manager = 'fake', subresource?: string): Writer {
  return { manager, operation, apiVersion: apiVersionOf(resource), subresource };
}

function differs(wanted: string | undefined, is: string | undefined): boolean {
  return wanted !== undefined && wanted !== is;
}

const refOf = (object: KubeObject): ObjectRef => refOfKey(keyOf(object));

function idOf(resource: Resource, { name, namespace }: ObjectRef): string {
  return `${resource.kind} ${keyOf({ metadata: { name, namespace } })}`;
}
