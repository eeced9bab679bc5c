import type { V1Deployment, V1Node, V1Pod } from '@kubernetes/client-node';
import type { CleanupContext } from '../../controllers/contract/context.ts';
import { FIELD_MANAGER } from '../../controllers/trafficwatch/names.ts';
import { type ObjectRef, getIfExists } from '../../runtime/client/client.ts';
import { DEPLOYMENTS, NODES, PODS } from '../../runtime/client/resources.ts';

/** Interval for listing the operator's pods until they are gone, milliseconds. */
const POLL_MS = 500;
/**
 * Annotation of the operator's Deployment during the clean-up: the number of replicas before. A clean-up that was
 * interrupted and runs again restores this number.
 */
const REPLICAS_ANNOTATION = 'traffic.example.com/replicas-before-cleanup';

/**
 * Stops the operator, waits until its pods are gone, and runs `work`, so that nothing writes labels at the same time.
 * Does not wait for pods on dead nodes (see isStillRunning). If the Deployment does not exist, only runs `work`. If
 * anything fails, restores the replicas: the operator then repairs what was only partly removed.
 *
 * @throws ApiError, TransportError, the error of `work`, or the signal's reason if it is aborted before `work`
 */
export async function whileStopped(
  o: Omit<CleanupContext, 'namespace'>,
  ref: ObjectRef,
  work: () => Promise<void>,
): Promise<void> {
  const deployment = await getIfExists(o.client, DEPLOYMENTS, ref);
  if (!deployment) return work();
  const replicas = replicasBefore(deployment);
  o.logger.info({ deployment: `${ref.namespace}/${ref.name}`, replicas }, 'stopping the operator');
  await scale(o, ref, 0, String(replicas));
  try {
    await podsGone(o, ref, deployment);
    await work();
  } catch (error) {
    await startAgain(o, ref, replicas);
    throw error;
  }
}

function replicasBefore({ metadata, spec }: V1Deployment): number {
  return Number(metadata?.annotations?.[REPLICAS_ANNOTATION] ?? spec?.replicas ?? 1);
}

/** @param note the value of REPLICAS_ANNOTATION; null removes it */
async function scale(
  { client }: Omit<CleanupContext, 'namespace'>,
  ref: ObjectRef,
  replicas: number,
  note: string | null,
): Promise<void> {
  const patch = { metadata: { annotations: { [REPLICAS_ANNOTATION]: note } }, spec: { replicas } };
  await client.mergePatch(DEPLOYMENTS, ref, patch, { fieldManager: FIELD_MANAGER });
}

async function startAgain(o: Omit<CleanupContext, 'namespace'>, ref: ObjectRef, replicas: number): Promise<void> {
  const context = { deployment: `${ref.namespace}/${ref.name}`, replicas };
  try {
    await scale(o, ref, replicas, null);
    o.logger.warn(context, 'the clean-up failed: the operator runs again; run the uninstall again');
  } catch (err) {
    const advice = 'the clean-up failed, and the operator stays at 0 replicas: run the uninstall again, or scale it up';
    o.logger.error({ ...context, err }, advice);
  }
}

async function podsGone(
  o: Omit<CleanupContext, 'namespace'>,
  { namespace }: ObjectRef,
  deployment: V1Deployment,
): Promise<void> {
  const labels = Object.entries(deployment.spec?.selector.matchLabels ?? {});
  const labelSelector = labels.map(([key, value]) => `${key}=${value}`).join(',');
  const awaited = new AwaitedPods(o, electsLeader(deployment));
  while (await awaited.anyOf(await o.client.list(PODS, { namespace, labelSelector }))) {
    await o.clock.sleep(POLL_MS, o.signal);
    o.signal.throwIfAborted();
  }
}

/** Decides which pods to wait for. Keeps the time since each pod is being deleted. */
class AwaitedPods {
  readonly #options: Omit<CleanupContext, 'namespace'>;
  readonly #mayLeave: boolean;
  /** By uid of the pod: when its deletionTimestamp was first seen, monotonic milliseconds. */
  readonly #terminatingSince = new Map<string, number>();
  #logged = '';

  /** @param mayLeave true if pods on dead nodes can be ignored */
  constructor(options: Omit<CleanupContext, 'namespace'>, mayLeave: boolean) {
    this.#options = options;
    this.#mayLeave = mayLeave;
  }

  /** True if the clean-up must wait for any of the pods. Logs their names when they change. */
  async anyOf(pods: readonly V1Pod[]): Promise<boolean> {
    const verdicts = await Promise.all(pods.map(async (pod) => ({ pod, awaited: await this.#isAwaited(pod) })));
    const named = (awaited: boolean): string[] => verdicts.filter((v) => v.awaited === awaited).map(nameOf);
    const [waiting, left] = [named(true), named(false)];
    if (String([waiting, left]) !== this.#logged) this.#log(waiting, left);
    this.#logged = String([waiting, left]);
    return waiting.length > 0;
  }

  async #isAwaited(pod: V1Pod): Promise<boolean> {
    const terminatingForMs = this.#terminatingForMs(pod);
    const mayBeLeft = this.#mayLeave && isOverdue(pod, terminatingForMs);
    return isStillRunning(pod, mayBeLeft ? await this.#node(pod) : undefined, mayBeLeft ? terminatingForMs : 0);
  }

  #terminatingForMs({ metadata }: V1Pod): number {
    if (metadata?.deletionTimestamp === undefined) return 0;
    const uid = metadata.uid ?? '';
    const now = this.#options.clock.monotonic();
    const since = this.#terminatingSince.get(uid) ?? now;
    this.#terminatingSince.set(uid, since);
    return now - since;
  }

  /** Lists with a field selector, because the clean-up has no permission to get nodes. */
  async #node({ spec }: V1Pod): Promise<V1Node | undefined> {
    if (spec?.nodeName === undefined) return undefined;
    const [node] = await this.#options.client.list(NODES, { fieldSelector: `metadata.name=${spec.nodeName}` });
    return node;
  }

  #log(waiting: readonly string[], left: readonly string[]): void {
    const { logger } = this.#options;
    if (waiting.length > 0) logger.info({ pods: waiting }, 'waiting for the pods of the operator to end');
    else if (left.length > 0) logger.warn({ pods: left }, 'not waiting for pods that have ended or are on a dead node');
  }
}

function nameOf({ pod }: { pod: V1Pod }): string {
  return `${pod.metadata?.name ?? ''} on ${pod.spec?.nodeName ?? 'no node'}`;
}

/** Default grace period of a pod in Kubernetes, seconds. */
const DEFAULT_GRACE_SECONDS = 30;
/** Time for the kubelet to report that it killed the pod after the grace period. */
const REPORT_MS = 5_000;

/**
 * True if a pod that is being deleted should have ended by now. Then its kubelet probably does not work.
 *
 * @param terminatingForMs time since the caller first saw the deletionTimestamp, by the caller's clock. The timestamp
 *   itself uses the API server's clock, which may differ
 */
export function isOverdue({ metadata }: V1Pod, terminatingForMs: number): boolean {
  if (metadata?.deletionTimestamp === undefined) return false;
  const graceMs = (metadata.deletionGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1_000;
  return terminatingForMs >= graceMs + REPORT_MS;
}

/**
 * True if the clean-up must wait for a pod of the operator. The first row that applies decides:
 *
 * | pod | node | wait |
 * |---|---|---|
 * | phase Succeeded or Failed | any | no |
 * | not overdue | any | yes |
 * | overdue | Ready is True: its kubelet will end the pod | yes |
 * | overdue | Ready is not True, or the Node is gone | no |
 *
 * A pod on a dead node keeps its phase until the node is back. If the operator elects a leader, it is safe not to wait
 * for that pod: it cannot write without the Lease, and the clean-up takes the Lease before it writes.
 */
export function isStillRunning(pod: V1Pod, node: V1Node | undefined, terminatingForMs: number): boolean {
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return false;
  return !isOverdue(pod, terminatingForMs) || isReady(node);
}

function isReady(node: V1Node | undefined): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** True if the replicas of a Deployment write only while they hold the Lease. The last `--leader-elect` counts. */
export function electsLeader({ spec }: V1Deployment): boolean {
  const args = spec?.template.spec?.containers.flatMap((container) => container.args ?? []) ?? [];
  const flag = args.findLast((arg) => /^--?leader-elect(=|$)/.test(arg));
  return flag !== undefined && /^--?leader-elect(=true)?$/.test(flag);
}
