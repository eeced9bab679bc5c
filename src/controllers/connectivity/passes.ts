import type { V1OwnerReference } from '@kubernetes/client-node';
import { appLabel, SERVER_NAME } from '../../connectivity/objects/names.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import { WaitingError } from '../../runtime/client/errors.ts';
import type { ObjectRef } from '../../runtime/client/resource.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import { carryOut } from '../../runtime/objectSet/act.ts';
import type { Member } from '../../runtime/objectSet/objectSet.ts';
import { observeSet, type MemberCaches } from '../../runtime/objectSet/observe.ts';
import {
  isForeign,
  isOff,
  planSet,
  type Observed,
  type SwitchedOff,
  writeProblem,
} from '../../runtime/objectSet/plan.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { ProblemReport } from '../../runtime/status/problemReport.ts';
import type { KeeperCache } from '../contract/keeperCache.ts';
import { keptByStacks } from '../contract/keepers.ts';
import { OWNER } from '../contract/labels.ts';
import { findOperatorDeployment } from '../contract/operatorDeployment.ts';
import { listStrangers } from '../contract/ownership.ts';
import { isOfAnyStack } from '../contract/stackOwner.ts';
import { unkeptProblems } from '../contract/unkept.ts';
import {
  allComponents,
  connectivitySet,
  serverComponent,
  type Component,
  type ComponentGroup,
} from './components/components.ts';
import { deployedByFlags, KEPT_TYPES, switchedOff, type StackGroup } from './decide/keepers.ts';
import { ensureFirstCheck } from './firstCheck.ts';
import { FIELD_MANAGER, FIRST_CHECK } from './names.ts';
import type { DeploymentOptions } from './options.ts';
import { readServerCa } from './serverCa.ts';

export interface PassOptions {
  readonly client: Client;
  readonly options: DeploymentOptions;
  /** The pod that this process runs in. */
  readonly pod?: ObjectRef | undefined;
  readonly logger: Logger;
  readonly caches: MemberCaches<ComponentGroup>;
  /** The server and agents that TrafficStacks keep. */
  readonly stacks: KeeperCache<StackGroup>;
  readonly report: ProblemReport;
}

/** The sources of problems. Each is updated separately. */
const SOURCE = { caches: 'caches', components: 'components', firstCheck: 'firstCheck', serverCa: 'serverCa' } as const;

/** Interval of reconciles without an event, in case an event is lost: ms. */
const RESYNC_MS = 60_000;
/** Requeue delay while an object is being deleted: ms. The deletion also causes an event. */
const LEAVING_MS = 2_000;
/** Requeue delay until the caches are synced: ms. */
const SYNC_MS = 200;

/**
 * Creates the reconcile: it creates the first ConnectivityCheck, and applies or removes the objects. It does not change
 * objects that it may not watch. It throws ApiError, TransportError, NotLeaderError, WaitingError.
 */
export function createPass(o: PassOptions): () => Promise<ReconcileResult> {
  const { client, options, logger, caches, stacks, report } = o;
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger });
  const keepable = {
    ...{ types: KEPT_TYPES, byFlags: deployedByFlags(options), hasDefaultStack: options.hasDefaultStack },
    ...{ members: allComponents(options), live: (member: Member) => caches.live(member) },
  };
  let owner: { value: V1OwnerReference | undefined } | undefined;
  return async () => {
    if (!isSettled(o)) throw new WaitingError('CachesNotSynced', 'caches are not synced yet', SYNC_MS);
    owner ??= { value: await findOperatorDeployment(client, o.pod) };
    report.about = owner.value;
    const keepers = stacks.keepers();
    const off = switchedOff(options, keepers);
    // A missing right is not a problem for groups that are switched off: an older version may not have had it.
    report.update(SOURCE.caches, [...caches.refusals(off), ...stacks.refusals()]);
    const checkFailures = keepers === undefined ? [] : await firstCheck(o, off);
    const ca = await serverCa(o, off);
    const unknown = caches.unknownGroups();
    const observation = await observeSet(connectivitySet(options, { owner: owner.value, ca }), off, {
      live: (member) => caches.live(member),
      // Without the CA, its ConfigMap, the server and the agents are unchanged.
      unknown: new Set([...unknown, ...keptByStacks(KEPT_TYPES, keepers), ...(ca === undefined ? SERVER_CA : [])]),
      strangersIn: (namespace) => listStrangers(client, namespace),
    });
    const plan = planSet(observation);
    const failures = await carryOut(plan, { applier, client });
    const failed = failures.map(({ member, error }) => writeProblem(member, error));
    report.update(SOURCE.components, [...plan.problems, ...failed, ...unkeptProblems(keepers, keepable)]);
    const [failure] = [...failures, ...checkFailures];
    if (failure !== undefined) throw failure.error;
    return { requeueAfterMs: plan.waiting ? LEAVING_MS : RESYNC_MS };
  };
}

const SERVER_CA: readonly ComponentGroup[] = ['serverCa'];

/** Reads the CA of the server; '' where none is needed, undefined if it cannot be used. Each reconcile reads it again. */
async function serverCa(
  { options, report }: PassOptions,
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
  { client, options, caches, report }: PassOptions,
  off: SwitchedOff<ComponentGroup>,
): Promise<{ error: unknown }[]> {
  const observed = observedServer(options, caches);
  const unknown = [...caches.unknownGroups()].some((group) => !isOff(off, group));
  const isWanted = !isOff(off, 'server') && !unknown && !isSomebodyElses(observed);
  try {
    if (isWanted) await ensureFirstCheck(client, observed.live);
    report.update(SOURCE.firstCheck, []);
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    report.update(SOURCE.firstCheck, [{ reason: 'WriteFailed', object: `ConnectivityCheck ${FIRST_CHECK}`, message }]);
    return [{ error }];
  }
}

function isSomebodyElses(server: Observed<Component>): boolean {
  return isForeign(OWNER, server) && !isOfAnyStack(server.live, appLabel(SERVER_NAME));
}

/** The Deployment of the server, desired and live. */
function observedServer(options: DeploymentOptions, caches: MemberCaches<ComponentGroup>): Observed<Component> {
  const member = serverComponent(options);
  return { member, live: caches.live(member) };
}

function isSettled({ caches: { informers }, stacks }: PassOptions): boolean {
  return stacks.settled && informers.every(({ synced, refusal }) => synced || refusal !== undefined);
}
