import type { ComponentStatus } from '../../../api/trafficstack/trafficStack.ts';
import type { ObservedComponent, Question } from '../observe/observation.ts';
import { questionOf } from './cause/cause.ts';

/** Which Events are asked for, and when next. */
export interface Asking {
  /** By component. Without those that are answered. */
  readonly questions: ReadonlyMap<string, Question>;
  /** When Events are asked for next, ms since 1970; Infinity if never. */
  readonly askAt: number;
}

/** Most pods need no explanation: they begin within this time. ms */
const ASK_AFTER_MS = 3_000;
/** A new Event about an object triggers no reconcile. ms */
const ASK_AGAIN_MS = 10_000;

/** Decides for which components Events are asked for. @param statuses as they are decided without these Events, by name */
export function askingOf(
  components: readonly ObservedComponent[],
  statuses: ReadonlyMap<string, Pick<ComponentStatus, 'state' | 'since'>>,
  now: number,
): Asking {
  const questions = new Map<string, Question>();
  let askAt = Infinity;
  for (const component of components) {
    const { name } = component.spec;
    const question = questionOf(component);
    const status = statuses.get(name);
    if (question === undefined || status === undefined) continue;
    const dueAt = status.state === 'Failed' ? now : Date.parse(status.since) + ASK_AFTER_MS;
    if (now < dueAt) askAt = Math.min(askAt, dueAt);
    else if (component.told === undefined) questions.set(name, question);
    else askAt = Math.min(askAt, now + ASK_AGAIN_MS);
  }
  return { questions, askAt };
}
