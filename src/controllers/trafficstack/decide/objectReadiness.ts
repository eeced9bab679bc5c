import type { KubeObject } from '../../../runtime/client/resource.ts';
import { findCondition, type Condition } from '../../../runtime/controller/conditions.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import { budgetOf, type SharedBudget } from '../expression/budget.ts';
import { evaluate } from '../expression/expression.ts';
import type { ObservedComponent, ObservedObject } from '../model/observation.ts';

/** Why an object is not ready. */
interface Unready {
  /** The object, such as `Ingress shop/web`. */
  readonly what: string;
  readonly message: string;
}

/** The fields of a status that many kinds have. */
interface LiveObject extends KubeObject {
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
    readonly phase?: string;
  };
}

/** Returns the first object of a component of the type Objects that is not ready; undefined if all are. All `readyWhen` share the steps of one expression. */
export function unreadyObject({ spec, objects, variables }: ObservedComponent): Unready | undefined {
  if (spec.type !== 'Objects') return undefined;
  const budget = budgetOf('the objects of a component');
  for (const each of objects) {
    const message = problemOf(each, variables, budget);
    if (message !== undefined) return { what: idOf(each), message: `${idOf(each)} ${message}` };
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
 * | is a PersistentVolumeClaim                                  | it is not Lost: with WaitForFirstConsumer, it is Pending until a pod uses it |
 * | has a condition Ready, else Available                       | that is True, for the present generation |
 * | has neither, as an Ingress, a Role or a ConfigMap           | it is applied                 |
 *
 * An Ingress may never have an address: with a controller that needs none, or a Service of type NodePort.
 */
function problemOf(
  { live, readyWhen }: ObservedObject,
  variables: ObservedComponent['variables'],
  budget: SharedBudget,
): string | undefined {
  if (live === undefined) return 'does not exist';
  if (live.metadata?.deletionTimestamp !== undefined) return 'is being deleted';
  const { metadata, status = {}, kind } = live as LiveObject;
  const generation = metadata?.generation ?? 0;
  if (isOlder(status, generation) && readsStatus(readyWhen)) return 'has no status of its generation yet';
  if (readyWhen !== undefined) return unmetExpression(readyWhen, { ...variables, object: live }, budget);
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
