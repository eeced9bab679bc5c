import type { V1OwnerReference } from '@kubernetes/client-node';
import type { EventRecorder } from '../controller/events.ts';
import type { Logger } from '../process/logger.ts';
import type { Problem } from '../process/problem.ts';

interface ProblemReportOptions {
  /** The start of the log messages: 'measurement' for 'measurement problem'. */
  readonly name: string;
  /** The action of the events, CamelCase. */
  readonly action: string;
  /** The namespace of the operator. */
  readonly namespace: string;
  readonly logger: Logger;
  readonly recorder?: Pick<EventRecorder, 'event'>;
  /** Called with the present number of problems after each update. */
  readonly onChange?: (count: number) => void;
}

/**
 * Reports the problems of a controller that has no object with conditions. Logs a problem when it begins and when it ends, and
 * records an event when it begins.
 */
export class ProblemReport {
  readonly #options: ProblemReportOptions;
  readonly #problems = new Map<string, readonly Problem[]>();
  /** The sources whose problems are reported again at their next update. */
  #untold = new Set<string>();
  /** The Deployment of the operator, which the events are about. Without it, no events are recorded. */
  about: V1OwnerReference | undefined;

  constructor(options: ProblemReportOptions) {
    this.#options = options;
  }

  /** The present problems. */
  get current(): readonly Problem[] {
    return [...this.#problems.values()].flat();
  }

  /** Reports problems that persist again at the next update. Call it after a standby became the leader: a standby may not write events. */
  tellAgain(): void {
    this.#untold = new Set(this.#problems.keys());
  }

  /** Replaces the problems of a source. Problems are the same if their reason and object are the same. */
  update(source: string, problems: readonly Problem[]): void {
    const before = this.#problems.get(source) ?? [];
    this.#problems.set(source, problems);
    const told = this.#untold.delete(source) ? [] : before;
    for (const problem of without(problems, told)) this.#begins(problem);
    for (const { reason, object } of without(before, problems)) {
      this.#options.logger.info({ reason, object }, `${this.#options.name} problem resolved`);
    }
    this.#options.onChange?.(this.current.length);
  }

  #begins({ reason, object, message }: Problem): void {
    const { name: controller, action, namespace, logger, recorder } = this.#options;
    logger.warn({ reason, object, detail: message }, `${controller} problem`);
    if (this.about === undefined) return;
    const { apiVersion, kind, name, uid } = this.about;
    const about = { apiVersion, kind, metadata: { name, uid, namespace } };
    recorder?.event(about, 'Warning', reason, message, action);
  }
}

function without(list: readonly Problem[], others: readonly Problem[]): Problem[] {
  return list.filter((each) => !others.some(({ reason, object }) => reason === each.reason && object === each.object));
}
