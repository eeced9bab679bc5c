import type { Client } from '../../client/client.ts';
import { ApiError } from '../../client/errors.ts';
import { keyOf } from '../../client/resource.ts';
import type { KubeObject, ObjectRef, Resource } from '../../client/resource.ts';

/** An API server that only remembers: enough for tests of who calls what, in which order. */
export interface FakeClient extends Client {
  /** Writes so far: 'apply Service op/prometheus', 'delete ...', 'patch ...'. */
  readonly writes: string[];
  /** What is there, by 'Kind namespace/name'. */
  readonly objects: Map<string, KubeObject>;
  /** Called before every write; what it throws is the answer. */
  refuse: (write: string) => void;
}

export function createFakeClient(...there: KubeObject[]): FakeClient {
  const objects = new Map(there.map((object) => [`${object.kind ?? ''} ${keyOf(object)}`, object]));
  const writes: string[] = [];
  const write = (verb: string, id: string): void => {
    fake.refuse(`${verb} ${id}`);
    writes.push(`${verb} ${id}`);
  };
  const fake: FakeClient = {
    writes,
    objects,
    refuse: () => undefined,
    get: <T extends KubeObject>(resource: Resource<T>, ref: ObjectRef) => {
      const found = objects.get(idOf(resource, ref));
      return found === undefined ? Promise.reject(notFound()) : Promise.resolve(found as T);
    },
    list: <T extends KubeObject>(resource: Resource<T>) =>
      Promise.resolve([...objects.values()].filter(({ kind }) => kind === resource.kind) as T[]),
    create: <T extends KubeObject>(_: Resource<T>, object: T) => Promise.resolve(object),
    apply: async <T extends KubeObject>(resource: Resource<T>, object: T) => {
      const id = `${resource.kind} ${keyOf(object)}`;
      await Promise.resolve();
      write('apply', id);
      objects.set(id, object);
      return object;
    },
    mergePatch: async <T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, patch: unknown) => {
      await Promise.resolve();
      write('patch', `${idOf(resource, ref)} ${JSON.stringify(patch)}`);
      return { metadata: ref } as T;
    },
    delete: async (resource: Resource, ref: ObjectRef, options = {}) => {
      await Promise.resolve();
      write('delete', idOf(resource, ref));
      const uid = objects.get(idOf(resource, ref))?.metadata?.uid;
      if (options.preconditions?.uid !== undefined && options.preconditions.uid !== uid) throw conflict();
      objects.delete(idOf(resource, ref));
    },
  };
  return fake;
}

export function forbidden(): ApiError {
  return new ApiError({ status: 403, reason: 'Forbidden', method: 'GET', path: '/' });
}

function notFound(): ApiError {
  return new ApiError({ status: 404, reason: 'NotFound', method: 'GET', path: '/' });
}

function conflict(): ApiError {
  return new ApiError({ status: 409, reason: 'Conflict', method: 'DELETE', path: '/' });
}

function idOf(resource: Resource, { namespace, name }: ObjectRef): string {
  return `${resource.kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}
