import type { ComponentStatus, TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import { sleep } from '../harness/measured.ts';
import { SLACK } from '../harness/slack.ts';
import { getObject } from './kubectl.ts';
import { rawWatch, type WatchEvent } from './rawWatch.ts';

/** A component as one version of the status has it. */
export interface Seen {
  /** When it was seen, of performance.now(). */
  readonly at: number;
  readonly status: ComponentStatus;
}

/** Whether a status tells of what a fault was done to. */
export type Concerns = (status: ComponentStatus) => boolean;

/** How long a stack may take to name a fault: ms. */
const NAMED_WITHIN = SLACK * 10_000;
/** Until the pods of a component are replaced, by the kubelets of a busy machine: ms. */
const HEALED_WITHIN = SLACK * 60_000;
const EVERY = 50;

/**
 * Every version of the status of a TrafficStack. A component that is created again at once is not ready for some milliseconds, which
 * a poll does not see.
 */
export class StackWatch {
  readonly #versions: { readonly at: number; readonly stack: TrafficStack }[] = [];
  #problem: string | undefined;
  #stop = (): Promise<void> => Promise.resolve();

  /** Begins to watch a stack that exists. Resolves when it has seen its present version. */
  static async start(name: string): Promise<StackWatch> {
    const watch = new StackWatch();
    const present = await getObject<TrafficStack>('trafficstack', name);
    watch.#versions.push({ at: performance.now(), stack: present });
    const from = `fieldSelector=metadata.name=${name}&resourceVersion=${present.metadata?.resourceVersion}`;
    const path = `/apis/traffic.example.com/v1alpha1/trafficstacks?watch=true&${from}`;
    watch.#stop = await rawWatch<TrafficStack>(
      path,
      (event) => watch.#see(event),
      (problem) => (watch.#problem ??= problem),
    );
    return watch;
  }

  async stop(): Promise<void> {
    await this.#stop();
  }

  #see({ type, object }: WatchEvent<TrafficStack>): void {
    if (type === 'MODIFIED') this.#versions.push({ at: performance.now(), stack: object });
    else this.#problem ??= `the stack ${object.metadata?.name} was ${type}`;
  }

  /** All versions of a component, from the oldest. @throws if one of them is without it, or the watch has ended */
  of(component: string): Seen[] {
    if (this.#problem !== undefined) throw new Error(this.#problem);
    return this.#versions.map(({ at, stack }) => {
      const status = stack.status?.components?.find(({ name }) => name === component);
      if (status === undefined) throw new Error(`the status has no component ${component}`);
      return { at, status };
    });
  }

  /** Until the newest version has the component as Ready: it may be late, and tell of what is over by now. @throws after HEALED_WITHIN */
  async ready(component: string): Promise<void> {
    const begin = performance.now();
    while (this.of(component).at(-1)?.status.state !== 'Ready') {
      if (performance.now() - begin > HEALED_WITHIN)
        throw new Error(`${component} is not Ready: ${this.#told(component)}`);
      await sleep(EVERY);
    }
  }

  /**
   * The first report of a stack about a fault: the first version since `begin` in which the component is not Ready.
   *
   * @param concerns false for a status about something else, which the fault does not concern
   * @throws if there is no such version for NAMED_WITHIN
   */
  async named(component: string, begin: number, concerns: Concerns = () => true): Promise<Seen> {
    return this.#first(component, NAMED_WITHIN, (seen) => seen.at > begin && isNamed(seen, concerns), begin);
  }

  /** Whether the newest version of the component at a time has it as Ready. */
  wasReady(component: string, time: number): boolean {
    return this.of(component).findLast(({ at }) => at <= time)?.status.state === 'Ready';
  }

  /** Whether a fault that began at `begin` is named by now. @param concerns as of `named` */
  isNamed(component: string, begin: number, concerns: Concerns): boolean {
    return this.of(component).some((seen) => seen.at > begin && isNamed(seen, concerns));
  }

  /** The first version after a given one in which the component is Ready. @throws if there is none within HEALED_WITHIN */
  healed(component: string, { at: named }: Seen): Promise<Seen> {
    return this.#first(component, HEALED_WITHIN, ({ at, status }) => at > named && status.state === 'Ready', named);
  }

  async #first(component: string, limit: number, is: (seen: Seen) => boolean, begin: number): Promise<Seen> {
    for (;;) {
      const found = this.of(component).find(is);
      if (found !== undefined && found.at - begin <= limit) return found;
      if (performance.now() - begin > limit) throw new Error(`${component}, for ${limit} ms: ${this.#told(component)}`);
      await sleep(EVERY);
    }
  }

  #told(component: string): string {
    const last = this.of(component).slice(-5);
    return last.map(({ status: { state, reason, message } }) => `${state} (${reason}): ${message}`).join('\n');
  }
}

function isNamed({ status }: Seen, concerns: Concerns): boolean {
  return status.state !== 'Ready' && concerns(status);
}
