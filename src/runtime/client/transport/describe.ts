import type { TransportRequest } from './types.ts';

/** Verb and resource of a request, for metrics: low cardinality, without names of objects. */
export interface RequestDescription {
  verb: string;
  /** 'nodes', 'deployments.apps', 'trafficwatches.traffic.example.com/status', or '/version'. */
  resource: string;
}

const VERBS = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;

/** Verb and resource of a request, as in the API server's own metrics. */
export function describeRequest({ method, path, query }: TransportRequest): RequestDescription {
  const { resource, named } = resourceOf(path);
  if (method !== 'GET') return { verb: VERBS[method], resource };
  if (query?.watch !== undefined && query.watch !== false) return { verb: 'watch', resource };
  return { verb: named || resource.startsWith('/') ? 'get' : 'list', resource };
}

function resourceOf(path: string): { resource: string; named: boolean } {
  const [, root, ...rest] = path.split('/');
  if (root !== 'api' && root !== 'apis') return { resource: `/${root ?? ''}`, named: false };
  const group = root === 'apis' ? rest.shift() : undefined;
  rest.shift();
  // /namespaces/<name> is itself an object; only a further segment makes it a prefix.
  if (rest[0] === 'namespaces' && rest.length > 2) rest.splice(0, 2);
  const [plural, name, subresource] = rest;
  // Users choose the group that a discovery document is requested of: see spec.targetRef.
  if (plural === undefined) return { resource: `/${root}`, named: false };
  const full = group === undefined ? plural : `${plural}.${group}`;
  return { resource: subresource === undefined ? full : `${full}/${subresource}`, named: name !== undefined };
}
