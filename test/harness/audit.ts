import { readFileSync } from 'node:fs';
import type { ControlPlane } from './controlPlane.ts';
import { until } from './measured.ts';

/** One answered request, as the API server's audit log has it. */
export interface AuditedRequest {
  readonly user: string;
  /** As Kubernetes has it: get, list, watch, create, patch, update, delete. */
  readonly verb: string;
  /** Plural, with its subresource: 'nodes', 'trafficwatches/status'; empty for other paths. */
  readonly resource: string;
  /** API group; empty for the core group. */
  readonly group: string;
  /** Empty for what has none. */
  readonly namespace: string;
  readonly name: string;
  /** HTTP status. */
  readonly code: number;
  /** Whether the user lacks the right. A status of 403 may also come from admission, as for an object of a CRD that is being deleted. */
  readonly isForbidden: boolean;
  /** When the request had arrived, wall clock milliseconds. */
  readonly at: number;
  /** When it was answered; for the stage `ResponseStarted`, when that began. */
  readonly answeredAt: number;
  /** For a watch also `ResponseStarted`. */
  readonly stage: string;
}

/**
 * A policy (audit.k8s.io/v1) for tests that look at what users with limited rights do: without the administrator, as whom tests and
 * controllers of Kubernetes write. The same one for all of them, so that they can share a control plane.
 */
export const AUDIT_OF_USERS = {
  ...{ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'] },
  rules: [{ level: 'None', users: ['admin', 'system:apiserver'] }, { level: 'Metadata' }],
};

interface AuditEvent {
  /** The ID of the request. */
  auditID: string;
  stage: string;
  verb: string;
  user?: { username?: string };
  objectRef?: { apiGroup?: string; resource?: string; subresource?: string; namespace?: string; name?: string };
  responseStatus?: { code?: number };
  annotations?: Readonly<Record<string, string>>;
  requestReceivedTimestamp: string;
  stageTimestamp: string;
}

const WRITES = new Set(['create', 'patch', 'update', 'delete', 'deletecollection']);

/** Every request that was answered so far, by the order of the answers; a watch that still runs is left out. */
export function audited(plane: ControlPlane): AuditedRequest[] {
  return eventsIn(plane)
    .map(requestOf)
    .filter(({ stage }) => stage === 'ResponseComplete');
}

/** Every request, also watches that still run, in the order in which they were answered first. */
export function arrived(plane: ControlPlane): AuditedRequest[] {
  const all = eventsIn(plane).map((event) => [event.auditID, requestOf(event)] as const);
  // A watch has an event when it begins and one when it ends.
  return [...new Map(all.toReversed()).values()].toReversed();
}

function eventsIn(plane: ControlPlane): AuditEvent[] {
  return readFileSync(plane.auditLog, 'utf8')
    .split('\n')
    .slice(0, -1) // of the last line, only a part may be there
    .map((line) => JSON.parse(line) as AuditEvent);
}

/**
 * The right that each request of a user took, such as `patch trafficweights.traffic.example.com/status`, and its HTTP status. Also rights of
 * watches that still run.
 */
export function rightsTaken(
  plane: ControlPlane,
  user: string,
): (Pick<AuditedRequest, 'code' | 'isForbidden'> & { right: string })[] {
  return eventsIn(plane)
    .filter((event) => event.user?.username === user)
    .map((event) => {
      const { apiGroup, resource, subresource } = event.objectRef ?? {};
      const { code, isForbidden } = requestOf(event);
      const kind = [resource, apiGroup].filter(Boolean).join('.');
      return { right: `${event.verb} ${[kind, subresource].filter(Boolean).join('/')}`, code, isForbidden };
    });
}

function requestOf(event: AuditEvent): AuditedRequest {
  const { apiGroup: group = '', resource = '', subresource, namespace = '', name = '' } = event.objectRef ?? {};
  return {
    user: event.user?.username ?? '',
    verb: event.verb,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    group,
    namespace,
    name,
    code: event.responseStatus?.code ?? 0,
    isForbidden: event.annotations?.['authorization.k8s.io/decision'] === 'forbid',
    at: Date.parse(event.requestReceivedTimestamp),
    answeredAt: Date.parse(event.stageTimestamp),
    stage: event.stage,
  };
}

/** The writes that a user tried, except to the lease, in the order of arrival. */
export function writesOf(plane: ControlPlane, user: string): AuditedRequest[] {
  return audited(plane)
    .filter((request) => request.user === user && WRITES.has(request.verb) && request.resource !== 'leases')
    .sort((a, b) => a.at - b.at);
}

/** Until a user has tried to write nothing for 5 s, but for the lease: events, for one, are sent one after the other. */
export async function untilQuiet(plane: ControlPlane, user: string): Promise<void> {
  const QUIET_MS = 5_000;
  await untilNone(`${user} writes nothing`, () => writesOf(plane, user), QUIET_MS, 0);
}

/** Until none of these requests has arrived for so long. @param since wall clock milliseconds: from then on; by default from now on */
export async function untilNone(
  what: string,
  requests: () => readonly AuditedRequest[],
  quietMs: number,
  since = Date.now(),
): Promise<void> {
  const isQuiet = () => [since, ...requests().map(({ at }) => at)].every((at) => at < Date.now() - quietMs);
  await until(what, isQuiet, { every: 500 });
}
