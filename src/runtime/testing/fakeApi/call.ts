import type { CallOptions } from '../../client/client.ts';
import { ApiError } from '../../client/errors.ts';
import { keyOf, resourcePath } from '../../client/resource.ts';
import type { ObjectRef, Resource } from '../../client/resource.ts';

/** One call, as it came. */
export interface Call {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'apply' | 'patch' | 'delete';
  readonly resource: Resource;
  /** 'Node', 'TrafficWatch/status' */
  readonly what: string;
  /** '' for a list and a watch. */
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly body?: unknown;
  readonly options?: CallOptions | undefined;
}

/** The API server's no to a call. */
export function refusal(call: Call, status: number, reason: string, detail = ''): ApiError {
  const method = {
    get: 'GET',
    list: 'GET',
    watch: 'GET',
    create: 'POST',
    apply: 'PATCH',
    patch: 'PATCH',
    delete: 'DELETE',
  };
  const [, subresource] = call.what.split('/');
  const ref: Partial<ObjectRef> = call.name === '' || call.verb === 'create' ? { namespace: call.namespace } : call;
  const path = resourcePath(call.resource, ref, subresource);
  return new ApiError({ status, reason, detail, method: method[call.verb], path });
}

/** A call as a line: 'patch Node n1 {"metadata":...}'. */
export function lineOf({ verb, what, name, namespace, body }: Call): string {
  const line = `${verb} ${what} ${keyOf({ metadata: { name, namespace } })}`;
  return verb === 'patch' ? `${line} ${JSON.stringify(body)}` : line;
}
