import type { V1OwnerReference } from '@kubernetes/client-node';
import type { Logger } from '../../runtime/process/logger.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import type { Problem } from './decide/plan.ts';

/** The part of the runtime's EventRecorder that is needed here. */
export interface Recorder {
  event(about: KubeObject, type: 'Normal' | 'Warning', reason: string, note: string, action?: string): void;
}

export interface ProblemReportOptions {
  /** The operator's own. */
  namespace: string;
  logger: Logger;
  recorder?: Recorder;
  /** How many problems there are now. */
  onChange?: (count: number) => void;
}

/** What is wrong now. Says so once when it begins and once when it ends, in the log and as events. */
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
      this.#options.logger.info({ reason, object }, 'measurement problem is over');
    }
    this.#options.onChange?.(this.current.length);
  }

  #begins({ reason, object, message }: Problem): void {
    this.#options.logger.warn({ reason, object, detail: message }, 'measurement problem');
    if (this.about === undefined) return;
    const { apiVersion, kind, name, uid } = this.about;
    const about = { apiVersion, kind, metadata: { name, uid, namespace: this.#options.namespace } };
    this.#options.recorder?.event(about, 'Warning', reason, message, 'Measure');
  }
}

function without(list: readonly Problem[], others: readonly Problem[]): Problem[] {
  return list.filter((each) => !others.some(({ reason, object }) => reason === each.reason && object === each.object));
}
