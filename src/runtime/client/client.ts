import { isNotFound, NotLeaderError } from './errors.ts';
import {
  apiVersionOf,
  keyOf,
  refOfKey,
  resourcePath,
  type KubeObject,
  type ObjectRef,
  type Resource,
  metadataOf,
} from './resource.ts';
import type { Transport, TransportRequest } from './transport.ts';

export type { ObjectRef } from './resource.ts';

/** Options of every call. */
export interface CallOptions {
  signal?: AbortSignal;
  /** Called right before every attempt. If it throws, nothing is sent and the call rejects with its error. */
  guard?: () => void;
}

export interface ListOptions extends CallOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Reads only one page, with at most this many objects. Default: all objects. */
  limit?: number;
  /** Objects of a page. With small pages, few objects are in memory before `transform` drops their parts. Default: PAGE_SIZE. */
  pageSize?: number;
  /** Returns the parts of an object to keep. Default: the whole object. */
  transform?: (object: KubeObject) => KubeObject;
}

export interface CreateOptions extends CallOptions {
  /** Field manager of the new object's fields; default: the name of the program. */
  fieldManager?: string;
}

export interface ApplyOptions extends CallOptions {
  fieldManager: string;
  /** Takes over fields of other managers. Without it such fields are a conflict (409). */
  force?: boolean;
  dryRun?: boolean;
  subresource?: 'status';
}

export interface MergePatchOptions extends CallOptions {
  fieldManager: string;
  subresource?: string;
  /** Requests a response with only the object's metadata, for large objects. */
  metadataOnly?: boolean;
}

/** An operation of a JSON patch (RFC 6902). Paths are JSON pointers. */
export type JsonPatchOperation =
  | { readonly op: 'test' | 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

export interface JsonPatchOptions extends CallOptions {
  fieldManager: string;
}

export interface DeleteOptions extends CallOptions {
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  preconditions?: { uid?: string; resourceVersion?: string };
}

/** Typed verbs of the Kubernetes API. All throw ApiError and TransportError. */
export interface Client {
  /** Reads one object; ApiError 404 if it does not exist. */
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T>;
  /** Reads all objects, in pages of 500, unless there is a limit. */
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<T[]>;
  /** Creates one object; ApiError 409 (AlreadyExists) if the name exists. */
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: CreateOptions): Promise<T>;
  /** Server-side apply. `object` contains exactly the fields that `fieldManager` owns. */
  apply<T extends KubeObject>(resource: Resource<T>, object: T, options: ApplyOptions): Promise<T>;
  /** JSON merge patch (RFC 7386): null removes a field. */
  mergePatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: unknown,
    options: MergePatchOptions,
  ): Promise<T>;
  /** JSON patch (RFC 6902): all operations or none; ApiError 422 if a test fails. */
  jsonPatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    operations: readonly JsonPatchOperation[],
    options: JsonPatchOptions,
  ): Promise<T>;
  /** Deletes one object. Succeeds if the object does not exist. */
  delete<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: DeleteOptions): Promise<void>;
}

/** Objects per page, as in client-go. */
const PAGE_SIZE = 500;

interface ListAnswer<T> {
  items?: T[];
  metadata?: { continue?: string };
}

/** Creates a client that sends its requests over the transport. */
export function createClient(transport: Transport): Client {
  const send = <R>(request: TransportRequest, options: CallOptions = {}): Promise<R> =>
    transport.request<R>({ ...request, signal: options.signal, guard: options.guard });

  return {
    get: (resource, ref, options) => send({ method: 'GET', path: resourcePath(resource, ref) }, options),
    list: (resource, options) => listPages(send, resource, options ?? {}),
    create: (resource, object, options) =>
      send(
        {
          method: 'POST',
          path: collectionOf(resource, object),
          query: { fieldManager: options?.fieldManager },
          body: typed(resource, object),
        },
        options,
      ),
    apply: (resource, object, options) =>
      send(
        {
          method: 'PATCH',
          path: resourcePath(resource, refOfKey(keyOf(object)), options.subresource),
          query: {
            fieldManager: options.fieldManager,
            force: options.force,
            dryRun: options.dryRun === true ? 'All' : undefined,
          },
          // The body can be JSON, because JSON is valid YAML.
          contentType: 'application/apply-patch+yaml',
          body: typed(resource, object),
        },
        options,
      ),
    mergePatch: (resource, ref, patch, options) =>
      send(
        {
          method: 'PATCH',
          path: resourcePath(resource, ref, options.subresource),
          query: { fieldManager: options.fieldManager },
          contentType: 'application/merge-patch+json',
          ...(options.metadataOnly === true ? { accept: metadataOf('PartialObjectMetadata') } : {}),
          body: patch,
        },
        options,
      ),
    jsonPatch: (resource, ref, operations, options) =>
      send(
        {
          method: 'PATCH',
          path: resourcePath(resource, ref),
          query: { fieldManager: options.fieldManager },
          contentType: 'application/json-patch+json',
          body: operations,
        },
        options,
      ),
    delete: (resource, ref, options) => deleteOne(send, resource, ref, options ?? {}),
  };
}

/** The part of the leader election that `leaderOnly` needs. */
export interface WriteGate {
  readonly isLeader: boolean;
  /** Aborted when leadership ends. */
  readonly signal: AbortSignal;
}

/**
 * Returns a client that writes only while this process leads. Reads always work. After leadership ends, a new write
 * throws NotLeaderError and a write in progress is cancelled. Leadership is checked again before each retry.
 */
export function leaderOnly(client: Client, leadership: WriteGate): Client {
  const guard = (): void => {
    if (!leadership.isLeader || leadership.signal.aborted) throw new NotLeaderError();
  };
  const signals = new LeaderSignals(leadership);
  const gated = <O extends CallOptions>(options: O): O => ({ ...options, ...gate(options, signals, guard) });
  return {
    get: (resource, ref, options) => client.get(resource, ref, options),
    list: (resource, options) => client.list(resource, options),
    create: (resource, object, options) => write(guard, () => client.create(resource, object, gated(options ?? {}))),
    apply: (resource, object, options) => write(guard, () => client.apply(resource, object, gated(options))),
    mergePatch: (resource, ref, patch, options) =>
      write(guard, () => client.mergePatch(resource, ref, patch, gated(options))),
    jsonPatch: (resource, ref, operations, options) =>
      write(guard, () => client.jsonPatch(resource, ref, operations, gated(options))),
    delete: (resource, ref, options) => write(guard, () => client.delete(resource, ref, gated(options ?? {}))),
  };
}

async function write<R>(guard: () => void, send: () => Promise<R>): Promise<R> {
  guard();
  return send();
}

/**
 * Creates signals that are aborted with the signal of the caller, and when leadership ends. All calls with one signal share its
 * composite signal: a reconcile may write thousands of objects, and each composite signal costs Node.js weak references.
 */
class LeaderSignals {
  readonly #leadership: WriteGate;
  #term: AbortSignal;
  #known = new WeakMap<AbortSignal, AbortSignal>();

  constructor(leadership: WriteGate) {
    this.#leadership = leadership;
    this.#term = leadership.signal;
  }

  with(signal: AbortSignal | undefined): AbortSignal {
    const term = this.#leadership.signal;
    if (signal === undefined) return term;
    if (term !== this.#term) {
      this.#term = term;
      this.#known = new WeakMap();
    }
    const known = this.#known.get(signal);
    if (known !== undefined) return known;
    const both = AbortSignal.any([signal, term]);
    this.#known.set(signal, both);
    return both;
  }
}

function gate(options: CallOptions, signals: LeaderSignals, guard: () => void): CallOptions {
  const { signal, guard: inner } = options;
  return {
    signal: signals.with(signal),
    guard:
      inner === undefined
        ? guard
        : () => {
            guard();
            inner();
          },
  };
}

type Send = <R>(request: TransportRequest, options?: CallOptions) => Promise<R>;

async function listPages<T extends KubeObject>(send: Send, resource: Resource<T>, options: ListOptions): Promise<T[]> {
  const { namespace, labelSelector, fieldSelector, limit, pageSize = PAGE_SIZE, transform } = options;
  const path = resourcePath(resource, { namespace });
  const found: T[] = [];
  let next: string | undefined;
  do {
    const query = { labelSelector, fieldSelector, limit: limit ?? pageSize, continue: next };
    const page: ListAnswer<T> = await send<ListAnswer<T>>({ method: 'GET', path, query }, options);
    // Items of a list lack apiVersion and kind: set them, so that callers need not handle that.
    for (const item of page.items ?? []) {
      const object = typed(resource, item);
      found.push(transform === undefined ? object : (transform(object) as T));
    }
    next = limit === undefined ? page.metadata?.continue : undefined;
  } while (next !== undefined && next !== '');
  return found;
}

async function deleteOne(send: Send, resource: Resource, ref: ObjectRef, options: DeleteOptions): Promise<void> {
  const { propagationPolicy, preconditions } = options;
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy, preconditions };
  try {
    await send({ method: 'DELETE', path: resourcePath(resource, ref), body }, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function collectionOf(resource: Resource, object: KubeObject): string {
  return resourcePath(resource, { namespace: object.metadata?.namespace });
}

function typed<T extends KubeObject>(resource: Resource<T>, object: T): T {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object };
}

/**
 * Reads one object from the API server; undefined if there is none.
 *
 * @throws ApiError, TransportError
 */
export async function getIfExists<T extends KubeObject>(
  client: Pick<Client, 'get'>,
  resource: Resource<T>,
  ref: ObjectRef,
  options?: CallOptions,
): Promise<T | undefined> {
  try {
    return await client.get(resource, ref, options);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** All objects of a kind; none if the API server does not serve the kind. @throws ApiError, TransportError */
export async function listServed<T extends KubeObject>(
  client: Pick<Client, 'list'>,
  resource: Resource<T>,
  options?: ListOptions,
): Promise<T[]> {
  try {
    return await client.list(resource, options);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** Counts writes by kind and Kubernetes verb. */
export interface WriteMetrics {
  wrote(kind: string, verb: 'create' | 'apply' | 'patch' | 'delete'): void;
}

/** Returns a client that counts the writes that the API server accepted. A dry run does not count. */
export function countingWrites(client: Client, metrics: WriteMetrics): Client {
  const counted = async <R>(
    resource: Resource,
    verb: Parameters<WriteMetrics['wrote']>[1],
    write: Promise<R>,
  ): Promise<R> => {
    const answer = await write;
    metrics.wrote(resource.kind, verb);
    return answer;
  };
  return {
    get: (resource, ref, options) => client.get(resource, ref, options),
    list: (resource, options) => client.list(resource, options),
    create: (resource, object, options) => counted(resource, 'create', client.create(resource, object, options)),
    apply: (resource, object, options) =>
      options.dryRun === true
        ? client.apply(resource, object, options)
        : counted(resource, 'apply', client.apply(resource, object, options)),
    mergePatch: (resource, ref, patch, options) =>
      counted(resource, 'patch', client.mergePatch(resource, ref, patch, options)),
    jsonPatch: (resource, ref, operations, options) =>
      counted(resource, 'patch', client.jsonPatch(resource, ref, operations, options)),
    delete: (resource, ref, options) => counted(resource, 'delete', client.delete(resource, ref, options)),
  };
}
