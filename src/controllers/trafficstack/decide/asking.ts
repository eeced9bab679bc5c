import type { ComponentStatus } from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { ObservedComponent, Question } from '../observe/observation.ts';
import { questionOf, unreadOf } from './cause/cause.ts';

/** Which pods and Events are asked for, and when next. */
export interface Asking {
  /** The workloads whose pods are asked for, by component. Without those that were read. */
  readonly unread: ReadonlyMap<string, KubeObject>;
  /** The objects whose Events are asked for, by component. Without those that are answered. */
  readonly questions: ReadonlyMap<string, Question>;
  /** When they are asked for next, ms since 1970; Infinity if never. */
  readonly askAt: number;
}

/** Most pods need no explanation: they begin within this time. ms */
const ASK_AFTER_MS = 3_000;
/** A new Event about an object, and a change of a pod that is in no cache, trigger no reconcile. ms */
const ASK_AGAIN_MS = 10_000;

/**
 * Decides for which components pods and Events are asked for: first the pods of a built-in component, then Events, if the pods do not tell.
 *
 * @param statuses as they are decided without these answers, by name
 */
export function askingOf(
  components: readonly ObservedComponent[],
  statuses: ReadonlyMap<string, Pick<ComponentStatus, 'state' | 'since'>>,
  now: number,
): Asking {
  const unread = new Map<string, KubeObject>();
  const questions = new Map<string, Question>();
  let askAt = Infinity;
  for (const component of components) {
    const { name } = component.spec;
    const workload = unreadOf(component);
    const question = questionOf(component);
    const status = statuses.get(name);
    const isOpen = workload !== undefined || question !== undefined || component.arePodsRead === true;
    if (!isOpen || status === undefined) continue;
    const dueAt = status.state === 'Failed' ? now : Date.parse(status.since) + ASK_AFTER_MS;
    if (now < dueAt) askAt = Math.min(askAt, dueAt);
    else if (workload !== undefined) unread.set(name, workload);
    else if (question !== undefined && component.told === undefined) questions.set(name, question);
    else askAt = Math.min(askAt, now + ASK_AGAIN_MS);
  }
  return { unread, questions, askAt };
}
