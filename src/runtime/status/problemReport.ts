import type { V1OwnerReference } from '@kubernetes/client-node';
import type { EventRecorder } from '../controller/events.ts';
import type { Logger } from '../process/logger.ts';
import type { Problem } from '../process/problem.ts';

export interface ProblemReportOptions {
  /** Begins the log messages: 'measurement' for 'measurement problem'. */
  readonly name: string;
  /** What the controller does, CamelCase: the action of the events. */
  readonly action: string;
  /** The operator's own. */
  readonly namespace: string;
  readonly logger: Logger;
  readonly recorder?: Pick<EventRecorder, 'event'>;
  /** How many problems there are now. */
  readonly onChange?: (count: number) => void;
}

/**
 * The report of a controller that has no object with conditions: what is wrong now. A problem is logged when it begins
 * and when it ends, and is an event when it begins.
 */
export class ProblemReport {
  readonly #options: ProblemReportOptions;
  readonly #problems = new Map<string, readonly Problem[]>();
  /** Whose problems are told once more. */
  #untold = new Set<string>();
  /** The operator's own Deployment, which the events are about; without one there are none. */
  about: V1OwnerReference | undefined;

  constructor(options: ProblemReportOptions) {
    this.#options = options;
  }

  /** All problems. */
  get current(): readonly Problem[] {
    return [...this.#problems.values()].flat();
  }

  /** Tells all that is still wrong once more: what a standby said was in its log alone, as it may not write events. */
  tellAgain(): void {
    this.#untold = new Set(this.#problems.keys());
  }

  /** Replaces what `source` knew of. Problems are the same when reason and object are, whatever the message. */
  update(source: string, problems: readonly Problem[]): void {
    const before = this.#problems.get(source) ?? [];
    this.#problems.set(source, problems);
    const told = this.#untold.delete(source) ? [] : before;
    for (const problem of without(problems, told)) this.#begins(problem);
    for (const { reason, object } of without(before, problems)) {
      this.#options.logger.info({ reason, object }, `${this.#options.name} problem is over`);
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
