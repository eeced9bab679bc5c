import { expect } from 'vitest';
import { serverClusterRole, serverRole } from '../../../src/connectivity/objects/objects.ts';
import { audited } from '../../harness/audit.ts';
import type { ControlPlane } from '../../harness/controlPlane.ts';
import { OPTIONS } from './authWorld.ts';

/** Rights that are needed, but are no verb of a request in the audit log here. */
const UNSEEN = {
  'create agents': 'an apply is a patch in the log; of an object that is not there it needs create, too',
  'list pods': 'for an API server that does not stream its lists (WatchList)',
  'list nodes': 'the same',
  'list connectivitychecks': 'the same',
};

/**
 * Expects that a user was refused nothing, and did exactly what the roles of the server allow. Watches must have ended.
 */
export function expectExactRights(plane: ControlPlane, user: string): void {
  const requests = audited(plane).filter((request) => request.user === user && request.resource !== '');
  expect(requests.filter(({ code, isForbidden }) => code === 401 || isForbidden)).toEqual([]);
  const used = new Set(requests.map(({ verb, resource }) => `${verb} ${resource}`));
  const rules = [serverClusterRole(OPTIONS), serverRole(OPTIONS)].flatMap((role) => role.rules ?? []);
  const given = rules.flatMap(({ verbs, resources = [] }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  );
  expect([...used, ...Object.keys(UNSEEN)].sort()).toEqual([...given].sort());
}
