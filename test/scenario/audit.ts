import { readFileSync } from 'node:fs';
import { auditLogPath } from '../lab/lab.ts';

/** A successful write, from the API server's audit log. */
export interface Write {
  readonly verb: string;
  readonly resource: string;
  readonly name: string;
  /** The pod whose token was used; '' if the client is not a pod. */
  readonly pod: string;
  readonly user: string;
  /** When it was answered, ms since the epoch. */
  readonly at: number;
}

/** The fields of a line of the API server's audit log that the tests use. */
export interface AuditEvent {
  stageTimestamp: string;
  verb: string;
  objectRef?: { apiGroup?: string; resource?: string; name?: string; subresource?: string };
  user: { username: string; extra?: Record<string, string[]> };
  responseStatus?: { code?: number };
}

const WRITING = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
const POD_NAME = 'authentication.kubernetes.io/pod-name';

/** All requests since a time. The log begins when the lab starts, so lines of earlier stories are not parsed. */
export function readAudit(since: Date): AuditEvent[] {
  const lines = readFileSync(auditLogPath(), 'utf8').split('\n').slice(0, -1); // of the last line, only a part may be there
  return lines.filter((line) => timeOf(line) >= since.getTime()).map((line) => JSON.parse(line) as AuditEvent);
}

function timeOf(line: string): number {
  const text = /"stageTimestamp":"([^"]+)"/.exec(line)?.[1];
  if (text === undefined) throw new Error(`a line of the audit log has no time: ${line}`);
  return Date.parse(text);
}

/** Successful writes by pods to a resource (not its status) since a time. */
export function writesSince(since: Date, resource: string): Promise<Write[]> {
  const writes = readAudit(since)
    .filter((e) => WRITING.has(e.verb) && e.objectRef?.resource === resource && e.objectRef.subresource === undefined)
    .filter((e) => (e.responseStatus?.code ?? 500) < 300)
    .map((e) => ({
      verb: e.verb,
      resource,
      name: e.objectRef?.name ?? '',
      pod: e.user.extra?.[POD_NAME]?.[0] ?? '',
      user: e.user.username,
      at: Date.parse(e.stageTimestamp),
    }));
  return Promise.resolve(writes.filter((write) => write.pod !== ''));
}
