import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ComponentStatus, TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import { sleep } from '../harness/measured.ts';
import { binary } from '../lab/binaries.ts';
import { kubeconfigPath } from '../lab/lab.ts';
import { getObject } from './kubectl.ts';

/** A component as one version of the status has it. */
export interface Seen {
  /** When it was seen, of performance.now(). */
  readonly at: number;
  readonly status: ComponentStatus;
}

/** How long a stack may take to name a fault: ms. */
const NAMED_WITHIN = 10_000;
/** Until the pods of a component are replaced, by the kubelets of a busy machine: ms. */
const HEALED_WITHIN = 60_000;
const EVERY = 50;

/**
 * Every version of the status of a TrafficStack. A component that is made anew at once is not ready for some milliseconds, which
 * a poll does not see.
 */
export class StackWatch {
  readonly #versions: { readonly at: number; readonly stack: TrafficStack }[] = [];
  #problem: string | undefined;
  #stop = (): Promise<unknown> => Promise.resolve();

  /** Begins to watch a stack that exists. Resolves when it has seen its present version. */
  static async start(name: string): Promise<StackWatch> {
    const watch = new StackWatch();
    const present = await getObject<TrafficStack>('trafficstack', name);
    watch.#versions.push({ at: performance.now(), stack: present });
    const from = `fieldSelector=metadata.name=${name}&resourceVersion=${present.metadata?.resourceVersion}`;
    const path = `/apis/traffic.example.com/v1alpha1/trafficstacks?watch=true&${from}`;
    const env = { ...process.env, KUBECONFIG: kubeconfigPath() };
    const child = spawn(await binary('kubectl'), ['get', '--raw', path], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface({ input: child.stdout }).on('line', (line) => watch.#see(line));
    const ended = once(child, 'exit').then(() => (watch.#problem ??= `the watch of ${name} has ended`));
    watch.#stop = () => {
      child.kill();
      return ended;
    };
    return watch;
  }

  async stop(): Promise<void> {
    await this.#stop();
  }

  #see(line: string): void {
    const { type, object } = JSON.parse(line) as { type: string; object: TrafficStack };
    if (type === 'MODIFIED') this.#versions.push({ at: performance.now(), stack: object });
    else this.#problem ??= line;
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

  /**
   * What a stack says first of a fault: the first version since `begin` in which the component is not Ready.
   *
   * @throws if it was not Ready before, or stays so for 10 s
   */
  async named(component: string, begin: number): Promise<Seen> {
    const before = this.of(component).findLast(({ at }) => at <= begin);
    if (before?.status.state !== 'Ready') throw new Error(`${component} was ${before?.status.state} before the fault`);
    return this.#first(component, NAMED_WITHIN, ({ at, status }) => at > begin && status.state !== 'Ready', begin);
  }

  /** The first version after another one in which the component is Ready. @throws if there is none within 60 s */
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
