import { CONNECTIVITY_CHECKS } from '../../api/connectivitycheck/connectivityCheck.ts';
import { appLabel, SERVER_NAME } from '../../connectivity/objects/names.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import { isConflict } from '../../runtime/client/errors.ts';
import { apiVersionOf, type KubeObject, type ObjectRef } from '../../runtime/client/resource.ts';
import { DEPLOYMENTS } from '../../runtime/client/resources.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import type { MemberCaches } from '../../runtime/objectSet/observe.ts';
import { isForeign, isOff, type Observed, type SwitchedOff } from '../../runtime/objectSet/plan.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { ProblemReport } from '../../runtime/status/problemReport.ts';
import type { StackOwnershipCache } from '../contract/stackOwnershipCache.ts';
import { DeployedSet, isOfAnyStack } from '../contract/deployedSet.ts';
import { OWNER } from '../contract/labels.ts';
import {
  allComponents,
  connectivitySet,
  FIELD_MANAGER,
  serverComponent,
  type Component,
  type ComponentGroup,
} from './components/components.ts';
import { deployedByFlags, STACK_TYPES, switchedOff, type StackGroup } from './decide/stackGroups.ts';
import type { DeploymentOptions } from './flags.ts';
import { readServerCa } from './serverCa.ts';

export interface ReconcileOptions {
  readonly client: Client;
  readonly options: DeploymentOptions;
  /** The pod that this process runs in. */
  readonly pod?: ObjectRef | undefined;
  readonly logger: Logger;
  readonly caches: MemberCaches<ComponentGroup>;
  /** The server and agents that TrafficStacks keep. */
  readonly stacks: StackOwnershipCache<StackGroup>;
  readonly report: ProblemReport;
}

/** The sources of problems. Each is updated separately. */
const SOURCE = { caches: 'caches', firstCheck: 'firstCheck', serverCa: 'serverCa' } as const;

/**
 * Creates the reconcile: it creates the first ConnectivityCheck, and applies or removes the objects. It does not change
 * objects that it may not watch. It throws ApiError, TransportError, NotLeaderError, WaitingError.
 */
export function createReconcile(o: ReconcileOptions): () => Promise<ReconcileResult> {
  const { client, options, logger, caches, stacks, report } = o;
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger });
  const deployed = new DeployedSet<ComponentGroup, StackGroup>({
    ...{ client, applier, pod: o.pod, report, isSynced: () => areCachesSynced(o) },
    ...{ types: STACK_TYPES, byFlags: deployedByFlags(options), hasDefaultStack: options.hasDefaultStack },
    ...{ members: allComponents(options), live: (member) => caches.live(member) },
  });
  return async () => {
    const owner = await deployed.begin();
    const ownership = stacks.ownership();
    const off = switchedOff(options, ownership);
    // A missing right is not a problem for groups that are switched off: an older version may not have had it.
    report.update(SOURCE.caches, [...caches.refusals(off), ...stacks.refusals()]);
    const checkFailures = ownership === undefined ? [] : await firstCheck(o, off);
    const ca = await serverCa(o, off);
    const result = await deployed.write(connectivitySet(options, { owner, ca }), off, {
      ownership,
      // Without the CA, its ConfigMap, the server and the agents are unchanged.
      unknown: [...caches.unknownGroups(), ...(ca === undefined ? SERVER_CA : [])],
    });
    if (checkFailures[0] !== undefined) throw checkFailures[0].error;
    return result;
  };
}

const SERVER_CA: readonly ComponentGroup[] = ['serverCa'];

/** Reads the CA of the server; '' where none is needed, undefined if it cannot be used. Each reconcile reads it again. */
async function serverCa(
  { options, report }: ReconcileOptions,
  off: SwitchedOff<ComponentGroup>,
): Promise<string | undefined> {
  const { tlsSecretName, serverCaFile } = options;
  const isNeeded = !isOff(off, 'serverCa') && serverCaFile !== undefined;
  const read = isNeeded ? await readServerCa(serverCaFile, tlsSecretName) : { ca: '' };
  report.update(SOURCE.serverCa, 'problem' in read ? [read.problem] : []);
  return 'problem' in read ? undefined : read.ca;
}

/**
 * Creates the first ConnectivityCheck if this controller or a TrafficStack deploys the server. After a failure, the objects are deployed
 * nevertheless, and the next reconcile tries again.
 */
async function firstCheck(
  { client, options, caches, report }: ReconcileOptions,
  off: SwitchedOff<ComponentGroup>,
): Promise<{ error: unknown }[]> {
  const observed = observedServer(options, caches);
  const unknown = [...caches.unknownGroups()].some((group) => !isOff(off, group));
  const isNeeded = !isOff(off, 'server') && !unknown && !isForeignServer(observed);
  try {
    if (isNeeded) await ensureFirstCheck(client, observed.live);
    report.update(SOURCE.firstCheck, []);
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    report.update(SOURCE.firstCheck, [{ reason: 'WriteFailed', object: `ConnectivityCheck ${FIRST_CHECK}`, message }]);
    return [{ error }];
  }
}

function isForeignServer(server: Observed<Component>): boolean {
  return isForeign(OWNER, server) && !isOfAnyStack(server.live, appLabel(SERVER_NAME));
}

/** The Deployment of the server, desired and live. */
function observedServer(options: DeploymentOptions, caches: MemberCaches<ComponentGroup>): Observed<Component> {
  const member = serverComponent(options);
  return { member, live: caches.live(member) };
}

function areCachesSynced({ caches: { informers }, stacks }: ReconcileOptions): boolean {
  return stacks.isRead && informers.every(({ synced, refusal }) => synced || refusal !== undefined);
}

/** The ConnectivityCheck that this controller creates in a cluster without one. */
const FIRST_CHECK = 'default';

/** Annotation on the Deployment of the server: the first ConnectivityCheck was created, or was not needed. */
export const FIRST_CHECK_ANNOTATION = 'traffic.example.com/first-connectivity-check';
/** Another value was applied with the Deployment, and would be removed with the next apply. */
const FIRST_CHECK_DONE = 'true';
/** The field manager of that annotation alone, so that a TrafficStack that applies the Deployment leaves it. */
const FIRST_CHECK_MANAGER = 'traffic-operator-first-check';

/**
 * Creates the first ConnectivityCheck. An annotation on the Deployment of the server says that the check was created, or was not needed,
 * so that a restarted operator also knows it. The annotation has its own field manager, since a TrafficStack may keep the Deployment:
 *
 * | the Deployment of the server | what follows                                                  |
 * | ---------------------------- | ------------------------------------------------------------- |
 * | has the annotation           | nothing, whatever the user did with ConnectivityChecks since  |
 * | has none, or does not exist  | a ConnectivityCheck is created, unless the cluster has some   |
 *
 * @throws ApiError, TransportError, NotLeaderError
 */
export async function ensureFirstCheck(client: Client, deployment: KubeObject | undefined): Promise<void> {
  const done = deployment?.metadata?.annotations?.[FIRST_CHECK_ANNOTATION];
  if (done === undefined) await createFirstCheck(client);
  if (deployment !== undefined && done !== FIRST_CHECK_DONE) await noteFirstCheck(client, deployment);
}

/** Creates a ConnectivityCheck of all nodes, if the cluster has none. */
async function createFirstCheck(client: Client): Promise<void> {
  const checks = await client.list(CONNECTIVITY_CHECKS);
  if (checks.length > 0) return;
  try {
    await client.create(CONNECTIVITY_CHECKS, { metadata: { name: FIRST_CHECK }, spec: {} });
  } catch (error) {
    // Another client created it meanwhile.
    if (!isConflict(error)) throw error;
  }
}

/** Writes the annotation. Sends the uid, so that a Deployment that was deleted meanwhile is not created again. */
async function noteFirstCheck(client: Client, { metadata }: KubeObject): Promise<void> {
  const { name, namespace, uid } = metadata ?? {};
  const annotations = { [FIRST_CHECK_ANNOTATION]: FIRST_CHECK_DONE };
  const note: KubeObject = {
    ...{ apiVersion: apiVersionOf(DEPLOYMENTS), kind: DEPLOYMENTS.kind },
    metadata: { ...(name && { name }), ...(namespace && { namespace }), ...(uid && { uid }), annotations },
  };
  await client.apply(DEPLOYMENTS, note, { fieldManager: FIRST_CHECK_MANAGER, force: true });
}
