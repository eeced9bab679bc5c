import { isNotFound, NotLeaderError } from './errors.ts';
import { apiVersionOf, keyOf, refOfKey, resourcePath } from './resource.ts';
import type { KubeObject, ObjectRef, Resource } from './resource.ts';
import { metadataOf } from './transport/accept.ts';
import type { Transport, TransportRequest } from './transport.ts';

export type { ObjectRef } from './resource.ts';

/** What every call takes. */
export interface CallOptions {
  signal?: AbortSignal;
  /** Asked right before every attempt; what it throws ends the call, and nothing is sent. */
  guard?: () => void;
}

export interface ListOptions extends CallOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface CreateOptions extends CallOptions {
  /** Whose the fields of the new object are; the name of the program unless told. */
  fieldManager?: string;
}

export interface ApplyOptions extends CallOptions {
  fieldManager: string;
  /** Takes over fields that another manager owns; a conflict (409) otherwise. */
  force?: boolean;
  dryRun?: boolean;
  subresource?: 'status';
}

export interface MergePatchOptions extends CallOptions {
  fieldManager: string;
  subresource?: string;
  /** The answer is the object's metadata alone: all that matters of an object whose rest is large. */
  metadataOnly?: boolean;
}

export interface DeleteOptions extends CallOptions {
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  preconditions?: { uid?: string; resourceVersion?: string };
}

/** Typed verbs. All throw ApiError and TransportError. */
export interface Client {
  /** Reads one object; ApiError 404 when there is none. */
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T>;
  /** Reads all objects, in pages of 500. */
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<T[]>;
  /** Makes one object; ApiError 409 (AlreadyExists) when there is one of its name. */
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: CreateOptions): Promise<T>;
  /** Server-side apply: `object` is all that `fieldManager` wants to own, no more. */
  apply<T extends KubeObject>(resource: Resource<T>, object: T, options: ApplyOptions): Promise<T>;
  /** RFC 7386: null takes a field away. */
  mergePatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: unknown,
    options: MergePatchOptions,
  ): Promise<T>;
  /** Deletes one object; that there is none is success. */
  delete<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: DeleteOptions): Promise<void>;
}

/** As many objects a page as client-go asks for. */
const PAGE_SIZE = 500;

interface ListAnswer<T> {
  items?: T[];
  metadata?: { continue?: string };
}

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
          // The API server takes JSON here too: JSON is YAML.
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
    delete: (resource, ref, options) => deleteOne(send, resource, ref, options ?? {}),
  };
}

/** What of leadership the gate needs. */
export interface WriteGate {
  readonly isLeader: boolean;
  /** Aborted when leadership ends. */
  readonly signal: AbortSignal;
}

/**
 * The same client for whoever leads: reads go on as ever; a write is refused (NotLeaderError) once leadership has
 * ended, one under way is called off, and leadership is asked again before each repetition.
 */
export function leaderOnly(client: Client, leadership: WriteGate): Client {
  const guard = (): void => {
    if (!leadership.isLeader || leadership.signal.aborted) throw new NotLeaderError();
  };
  const gated = <O extends CallOptions>(options: O): O => ({ ...options, ...gate(options, leadership, guard) });
  return {
    get: (resource, ref, options) => client.get(resource, ref, options),
    list: (resource, options) => client.list(resource, options),
    create: (resource, object, options) => write(guard, () => client.create(resource, object, gated(options ?? {}))),
    apply: (resource, object, options) => write(guard, () => client.apply(resource, object, gated(options))),
    mergePatch: (resource, ref, patch, options) =>
      write(guard, () => client.mergePatch(resource, ref, patch, gated(options))),
    delete: (resource, ref, options) => write(guard, () => client.delete(resource, ref, gated(options ?? {}))),
  };
}

async function write<R>(guard: () => void, send: () => Promise<R>): Promise<R> {
  guard();
  return send();
}

function gate(options: CallOptions, leadership: WriteGate, guard: () => void): CallOptions {
  const { signal, guard: inner } = options;
  return {
    signal: signal === undefined ? leadership.signal : AbortSignal.any([signal, leadership.signal]),
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
  const { namespace, labelSelector, fieldSelector } = options;
  const path = resourcePath(resource, { namespace });
  const found: T[] = [];
  let next: string | undefined;
  do {
    const query = { labelSelector, fieldSelector, limit: PAGE_SIZE, continue: next };
    const page: ListAnswer<T> = await send<ListAnswer<T>>({ method: 'GET', path, query }, options);
    // Items of a list carry neither apiVersion nor kind; what reads them should not have to know.
    for (const item of page.items ?? []) found.push(typed(resource, item));
    next = page.metadata?.continue;
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
