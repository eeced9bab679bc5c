import type { V1OwnerReference } from '@kubernetes/client-node';
import { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import { WaitingError } from '../../runtime/client/errors.ts';
import type { ObjectRef } from '../../runtime/client/resource.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import { carryOut } from '../../runtime/objectSet/act.ts';
import { observeSet } from '../../runtime/objectSet/observe.ts';
import { isForeign, isOff, planSet, type Observed, type SwitchedOff } from '../../runtime/objectSet/plan.ts';
import { writeProblem } from '../../runtime/objectSet/problem.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { MemberCaches } from '../../runtime/objectSet/watch.ts';
import type { ProblemReport } from '../../runtime/status/problemReport.ts';
import { OWNER } from '../contract/labels.ts';
import { findOperatorDeployment } from '../contract/operatorDeployment.ts';
import { listStrangers } from '../contract/ownership.ts';
import { connectivitySet, serverComponent, type Component, type ComponentGroup } from './components.ts';
import { createFirstCheck, isFirstCheckDone } from './firstCheck.ts';
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
 * Creates the reconcile: it creates the first ConnectivityCheck, and applies or removes the objects. If a right to watch
 * is missing, the objects stay as they are. It throws ApiError, TransportError, NotLeaderError, WaitingError.
 */
export function createPass(o: PassOptions): () => Promise<ReconcileResult> {
  const { client, options, logger, caches, report } = o;
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger });
  const off = switchedOff(options);
  let owner: { value: V1OwnerReference | undefined } | undefined;
  return async () => {
    if (!isSettled(caches)) throw new WaitingError('CachesNotSynced', 'caches are not synced yet', SYNC_MS);
    owner ??= { value: await findOperatorDeployment(client, o.pod) };
    report.about = owner.value;
    // Without the rights of an older version, what is not wanted is no problem.
    report.update(SOURCE.caches, caches.refusals(off));
    const first = await firstCheck(o, off);
    const ca = await serverCa(o);
    const set = connectivitySet(options, { owner: owner.value, ca, firstCheckDone: first.done });
    const unknown = caches.unknownGroups();
    const observation = await observeSet(set, off, {
      live: (member) => caches.live(member),
      // Without the CA, its ConfigMap, the server and the agents stay as they are.
      unknown: ca === undefined ? new Set([...unknown, 'serverCa' as const]) : unknown,
      strangersIn: (namespace) => listStrangers(client, namespace),
    });
    const plan = planSet(observation);
    const failures = await carryOut(plan, { applier, client });
    const failed = failures.map(({ member, error }) => writeProblem(member, error));
    report.update(SOURCE.components, [...plan.problems, ...failed]);
    const [failure] = [...failures, ...first.failures];
    if (failure !== undefined) throw failure.error;
    return { requeueAfterMs: plan.waiting ? LEAVING_MS : RESYNC_MS };
  };
}

/** The groups that are not wanted. */
export function switchedOff({ enabled, tlsSecretName }: DeploymentOptions): SwitchedOff<ComponentGroup> {
  if (!enabled) return 'all';
  return new Set(tlsSecretName === '' ? ['serverCa'] : []);
}

/** The CA of the server; '' where none is needed, undefined if it cannot be used. Read anew by each reconcile. */
async function serverCa({ options, report }: PassOptions): Promise<string | undefined> {
  const { enabled, tlsSecretName, serverCaFile } = options;
  const isNeeded = enabled && tlsSecretName !== '' && serverCaFile !== undefined;
  const read = isNeeded ? await readServerCa(serverCaFile, tlsSecretName) : { ca: '' };
  report.update(SOURCE.serverCa, 'problem' in read ? [read.problem] : []);
  return 'problem' in read ? undefined : read.ca;
}

/**
 * Creates the first ConnectivityCheck before the Deployment gets the annotation. A failure does not keep the objects
 * from being deployed; the next reconcile repeats it.
 */
async function firstCheck(
  { client, options, caches, report }: PassOptions,
  off: SwitchedOff<ComponentGroup>,
): Promise<{
  done: boolean;
  failures: { error: unknown }[];
}> {
  const observed = observedServer(options, caches);
  const unknown = [...caches.unknownGroups()].some((group) => !isOff(off, group));
  if (!options.enabled || unknown || isForeign(OWNER, observed) || isFirstCheckDone(observed.live)) {
    report.update(SOURCE.firstCheck, []);
    return { done: isFirstCheckDone(observed.live), failures: [] };
  }
  try {
    await createFirstCheck(client);
    report.update(SOURCE.firstCheck, []);
    return { done: true, failures: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    report.update(SOURCE.firstCheck, [{ reason: 'WriteFailed', object: `ConnectivityCheck ${FIRST_CHECK}`, message }]);
    return { done: false, failures: [{ error }] };
  }
}

/** The Deployment of the server, desired and live. */
function observedServer(options: DeploymentOptions, caches: MemberCaches<ComponentGroup>): Observed<Component> {
  const member = serverComponent(options);
  return { member, live: caches.live(member) };
}

function isSettled({ informers }: MemberCaches<ComponentGroup>): boolean {
  return informers.every(({ synced, refusal }) => synced || refusal !== undefined);
}
