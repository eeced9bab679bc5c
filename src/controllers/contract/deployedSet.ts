import type { V1OwnerReference, V1ReplicaSet, V1Pod } from '@kubernetes/client-node';
import type { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import { WaitingError, isForbidden, isNotFound } from '../../runtime/client/errors.ts';
import { type KubeObject, type ObjectRef, type Resource, keyOf, apiVersionOf } from '../../runtime/client/resource.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import { carryOut, type Failure } from '../../runtime/objectSet/act.ts';
import { type ObjectSet, isOwnedBy, isMarked, type Owner } from '../../runtime/objectSet/objectSet.ts';
import { observeSet, readLive } from '../../runtime/objectSet/observe.ts';
import { planSet, writeProblem, type SwitchedOff } from '../../runtime/objectSet/plan.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import type { ProblemReport } from '../../runtime/status/problemReport.ts';
import { ownedByStacks, unownedProblems, type OwnedTypes, type StackOwnership } from './stackOwnership.ts';
import { PODS } from '../../runtime/client/resources.ts';
import { OWNER } from './labels.ts';
import { TRAFFIC_STACKS } from '../../api/trafficstack/trafficStack.ts';

/** Interval of reconciles without an event, in case an event is lost: ms. */
export const RESYNC_MS = 60_000;
/** Requeue delay while an object is being deleted: ms. The deletion also causes an event. */
const LEAVING_MS = 2_000;
/** Requeue delay until the caches are synced: ms. */
const SYNC_MS = 200;

interface DeployedSetOptions<G extends string, K extends G> extends OwnedTypes<K> {
  readonly client: Client;
  readonly applier: Applier;
  /** The pod that this process runs in. Its Deployment owns the objects in its namespace. */
  readonly pod: ObjectRef | undefined;
  readonly report: ProblemReport;
  /** Whether every cache is synced or refused. */
  readonly isSynced: () => boolean;
  /** Converts a failed write into a problem. Default: `writeProblem`. */
  readonly problemOf?: (failure: Failure) => Problem;
}

/** Applies and removes the objects of a controller, except groups that TrafficStacks keep instead. */
export class DeployedSet<G extends string, K extends G> {
  readonly #o: DeployedSetOptions<G, K>;
  #owner: { readonly value: V1OwnerReference | undefined } | undefined;

  constructor(options: DeployedSetOptions<G, K>) {
    this.#o = options;
  }

  /**
   * Returns the owner of the objects in the operator's namespace. Call it at the start of a reconcile.
   *
   * @throws WaitingError until the caches are synced; ApiError, TransportError
   */
  async begin(): Promise<V1OwnerReference | undefined> {
    const { client, pod, report, isSynced } = this.#o;
    if (!isSynced()) throw new WaitingError('CachesNotSynced', 'caches are not synced yet', SYNC_MS);
    this.#owner ??= { value: await findOperatorDeployment(client, pod) };
    report.about = this.#owner.value;
    return this.#owner.value;
  }

  /**
   * Applies the objects that differ, removes the objects of groups that are switched off, and reports the problems.
   *
   * @param off the groups that are switched off
   * @param unknown the groups that are neither applied nor removed, besides those that stacks keep
   * @throws the error of the first failed write, after all others were tried; ApiError, TransportError, NotLeaderError
   */
  async write(
    set: ObjectSet<G>,
    off: SwitchedOff<G>,
    {
      ownership,
      unknown,
    }: { readonly ownership: StackOwnership<K> | undefined; readonly unknown: Iterable<G | undefined> },
  ): Promise<ReconcileResult> {
    const {
      client,
      applier,
      report,
      types,
      live,
      problemOf = ({ member, error }) => writeProblem(member, error),
    } = this.#o;
    const observation = await observeSet(set, off, {
      live,
      unknown: new Set([...unknown, ...ownedByStacks(types, ownership)]),
      strangersIn: (namespace) => listStrangers(client, namespace),
    });
    const plan = planSet(observation);
    const failures = await carryOut(plan, { applier, client });
    const unowned = unownedProblems(ownership, this.#o);
    report.update('components', [...plan.problems, ...failures.map(problemOf), ...unowned]);
    if (failures[0] !== undefined) throw failures[0].error;
    return { requeueAfterMs: plan.waiting ? LEAVING_MS : RESYNC_MS };
  }
}

/**
 * Removes all objects of a set before the operator itself is removed, Namespaces last. Stop the operator first: a running
 * operator would create the objects again. Does not wait for the deletions to end.
 *
 * @returns the objects that were kept, and why
 * @throws ApiError, TransportError
 */
export async function removeSet<G extends string>(
  set: ObjectSet<G>,
  tools: { readonly client: Client; readonly applier: Applier },
): Promise<readonly Problem[]> {
  const { client } = tools;
  const observation = await observeSet(set, 'all', {
    // No operator runs the stacks that may own them.
    live: async (member) => withoutStackOwner(await readLive(client, member)),
    unknown: new Set(),
    strangersIn: (namespace) => listStrangers(client, namespace),
  });
  const plan = planSet(observation);
  const [failure] = await carryOut(plan, tools);
  if (failure !== undefined) throw failure.error;
  return plan.problems;
}

const REPLICA_SETS: Resource<V1ReplicaSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  namespaced: true,
};

/**
 * An owner reference to the operator's own Deployment, for objects in its namespace. Finds the Deployment as the owner
 * of the ReplicaSet of this process's pod.
 *
 * @param pod this process's pod, from the downward API; undefined outside of a cluster
 * @returns undefined if there is no such Deployment, or it may not be read
 * @throws ApiError, TransportError
 */
export async function findOperatorDeployment(
  client: Client,
  pod: ObjectRef | undefined,
): Promise<V1OwnerReference | undefined> {
  if (pod === undefined) return undefined;
  const replicaSet = ownerOf(await getOrNothing(client, PODS, pod), 'ReplicaSet');
  if (replicaSet === undefined) return undefined;
  const ref = { name: replicaSet.name, namespace: pod.namespace };
  const deployment = ownerOf(await getOrNothing(client, REPLICA_SETS, ref as ObjectRef), 'Deployment');
  if (deployment === undefined) return undefined;
  const { apiVersion, kind, name, uid } = deployment;
  return { apiVersion, kind, name, uid };
}

function ownerOf(object: KubeObject | undefined, kind: string): V1OwnerReference | undefined {
  return object?.metadata?.ownerReferences?.find((owner) => owner.kind === kind && owner.controller === true);
}

async function getOrNothing<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  ref: ObjectRef,
): Promise<T | undefined> {
  try {
    return await client.get(resource, ref);
  } catch (error) {
    // Without the right to read, the objects get no owner and stay until somebody deletes them.
    if (isNotFound(error) || isForbidden(error)) return undefined;
    throw error;
  }
}

/**
 * The pods in a namespace that are not ours, as 'namespace/name'.
 *
 * @throws ApiError, TransportError
 */
async function listStrangers(client: Client, namespace: string): Promise<string[]> {
  const pods = await client.list(PODS, { namespace });
  return pods.filter((pod) => !isOurPod(pod)).map(keyOf);
}

/**
 * Recognizes our pods by the labels of our template. Passes only labels to isOwnedBy, which rejects objects with a
 * controller.
 */
export function isOurPod({ metadata }: V1Pod): boolean {
  return isOwnedBy(OWNER, { metadata: { labels: metadata?.labels ?? {} } });
}

/**
 * A live object without its owner reference to a TrafficStack, for where no stack is run: a built-in component is then of its own
 * controller again, which replaces that reference with its next apply. Undefined if there is none.
 */
function withoutStackOwner(live: KubeObject | undefined): KubeObject | undefined {
  const others = live?.metadata?.ownerReferences?.filter((owner) => !isStack(owner));
  return others === undefined ? live : { ...live, metadata: { ...live?.metadata, ownerReferences: others } };
}

/** Whether a TrafficStack keeps the object as a component that has these labels. */
export function isOfAnyStack(live: KubeObject | undefined, labels: Owner['labels']): boolean {
  const controller = live?.metadata?.ownerReferences?.find((owner) => owner.controller === true);
  return live !== undefined && controller !== undefined && isStack(controller) && isMarked(live, labels);
}

function isStack({ kind, apiVersion }: V1OwnerReference): boolean {
  return kind === TRAFFIC_STACKS.kind && apiVersion === apiVersionOf(TRAFFIC_STACKS);
}
