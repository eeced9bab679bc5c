import type { V1Job } from '@kubernetes/client-node';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { JOBS } from '../../../runtime/client/resources.ts';
import { isObject } from '../../../runtime/apply/mergePatch.ts';
import { findCondition, type Condition } from '../../../runtime/controller/conditions.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import { budgetOf, type SharedBudget } from '../expression/budget.ts';
import { evaluate } from '../expression/expression.ts';
import type { ObservedComponent, ObservedObject } from '../model/observation.ts';
import { MANIFEST_HASH } from '../names.ts';

/** Why an object is not ready. */
interface Unready {
  /** The object, such as `Ingress shop/web`. */
  readonly what: string;
  readonly message: string;
  /** True of a Job that does not try again. */
  readonly hasFailed: boolean;
}

/** The fields of a status that many kinds have. */
interface Status {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly phase?: string;
}

/** Returns the status of an object of any kind, without what other kinds have in the place of these fields. */
function statusOf(live: KubeObject): Status {
  const { status } = live as { readonly status?: Status | null };
  if (!isObject(status)) return {};
  const conditions: readonly Condition[] = Array.isArray(status.conditions) ? status.conditions : [];
  return { ...status, conditions: conditions.filter((each) => isObject(each)) };
}

/** Returns the first object of a component of the type Objects that is not ready; undefined if all are. All `readyWhen` share the steps of one expression. */
export function unreadyObject({ spec, objects, variables }: ObservedComponent): Unready | undefined {
  if (spec.type !== 'Objects') return undefined;
  const budget = budgetOf('the objects of a component');
  for (const each of objects) {
    const message = problemOf(each, variables, budget);
    const hasFailed = each.readyWhen === undefined && conditionOf(each.live, 'Failed')?.status === 'True';
    if (message !== undefined) return { what: idOf(each), message: `${idOf(each)} ${message}`, hasFailed };
  }
  return undefined;
}

/**
 * Returns why an object is not ready: the end of a sentence.
 *
 * | the object                                                  | ready when                    |
 * |-------------------------------------------------------------|-------------------------------|
 * | has a status of an older generation                         | never, unless readyWhen compares generations itself, or reads no status |
 * | has readyWhen                                               | that is true                  |
 * | is a Job                                                    | it is Complete, also if it is deleted then: it does not run again |
 * | is a PersistentVolumeClaim                                  | it is not Lost: with WaitForFirstConsumer, it is Pending until a pod uses it |
 * | has a condition Ready, else Available                       | that is True, for the present generation |
 * | has neither, as an Ingress, a Role or a ConfigMap           | it is applied                 |
 *
 * An Ingress may never have an address: with a controller that needs none, or a Service of type NodePort.
 */
function problemOf(
  { live, readyWhen, isCompleted }: ObservedObject,
  variables: ObservedComponent['variables'],
  budget: SharedBudget,
): string | undefined {
  if (isCompleted === true) return undefined;
  if (live === undefined) return 'does not exist';
  if (live.metadata?.deletionTimestamp !== undefined) return 'is being deleted';
  const { metadata, kind } = live;
  const status = statusOf(live);
  const generation = metadata?.generation ?? 0;
  if (isOlder(status, generation) && readsStatus(readyWhen)) return 'has no status of its generation yet';
  if (readyWhen !== undefined) return unmetExpression(readyWhen, { ...variables, object: live }, budget);
  if (kind === JOBS.kind) return jobProblem(live);
  if (kind === 'PersistentVolumeClaim') return status.phase === 'Lost' ? 'has lost its volume' : undefined;
  const condition = findCondition(status.conditions, 'Ready') ?? findCondition(status.conditions, 'Available');
  if (condition === undefined) return undefined;
  if (isOlder(condition, generation)) return `has no condition ${condition.type} of its generation yet`;
  if (condition.status === 'True') return undefined;
  const { type, status: is, reason, message } = condition;
  return `is not ready: the condition ${type} is ${is}: ${[reason, message].filter(Boolean).join(': ')}`;
}

/** Whether readiness follows from a status that must be of the present generation. */
function readsStatus(readyWhen = 'status'): boolean {
  return readyWhen.includes('status') && !readyWhen.includes('observedGeneration');
}

function isOlder(
  { observedGeneration }: { readonly observedGeneration?: number | undefined },
  generation: number,
): boolean {
  return observedGeneration !== undefined && observedGeneration < generation;
}

/** A Job that has failed exists without a pod that could still succeed. */
function jobProblem(job: KubeObject): string | undefined {
  if (isComplete(job)) return undefined;
  const failed = conditionOf(job, 'Failed');
  const { active = 0, failed: ended = 0 } = (job as V1Job).status ?? {};
  if (failed?.status !== 'True') return `is not complete: ${active} pods run, and ${ended} have failed`;
  return `has failed: ${failed.reason}: ${failed.message}; to run it again, change its manifest or delete it`;
}

function isComplete(job: KubeObject | undefined): boolean {
  return conditionOf(job, 'Complete')?.status === 'True';
}

function conditionOf(job: KubeObject | undefined, type: string): Condition | undefined {
  return job?.kind === JOBS.kind ? findCondition(statusOf(job).conditions, type) : undefined;
}

/** Returns the hash of the manifest of a Job that has completed, as the inventory keeps it. Undefined for any other object. */
export function completedOf({ object, live, isCompleted }: ObservedObject): string | undefined {
  const manifest = object.metadata?.annotations?.[MANIFEST_HASH];
  const isOfManifest = manifest === live?.metadata?.annotations?.[MANIFEST_HASH];
  return isCompleted === true || (isOfManifest && isComplete(live)) ? manifest : undefined;
}

function unmetExpression(
  readyWhen: string,
  variables: ObservedComponent['variables'],
  budget: SharedBudget,
): string | undefined {
  const result = evaluate(readyWhen, variables, budget);
  if ('problem' in result) return `is not ready: readyWhen: ${result.problem}`;
  if (result.value === true) return undefined;
  return `is not ready: readyWhen ${result.value === false ? 'is false' : 'gives no bool'}`;
}
