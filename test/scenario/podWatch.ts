import type { V1ListMeta, V1Pod } from '@kubernetes/client-node';
import { STACK_LABEL } from '../../src/controllers/trafficstack/names.ts';
import { until } from '../harness/measured.ts';
import { getRaw } from './api.ts';
import type { PodEvent } from './podOrder.ts';
import { rawWatch } from './rawWatch.ts';

const OF_STACKS = `/api/v1/pods?labelSelector=${STACK_LABEL}`;
/** Until a watch has sent what a list has: ms. */
const CAUGHT_UP_WITHIN = 120_000;

/** Every version of every pod of stacks since the watch began. A list has no pod that was created and deleted meanwhile. */
export class PodWatch {
  readonly #events: PodEvent[] = [];
  #problem: string | undefined;
  #stop = (): Promise<void> => Promise.resolve();

  /** Begins with the pods that exist. */
  static async start(): Promise<PodWatch> {
    const watch = new PodWatch();
    const { metadata, items } = await list();
    watch.#events.push(...items.map((object): PodEvent => ({ type: 'ADDED', object })));
    watch.#stop = await rawWatch<V1Pod>(
      `${OF_STACKS}&watch=true&resourceVersion=${metadata.resourceVersion}`,
      (event) => watch.#events.push(event),
      (problem) => (watch.#problem ??= problem),
    );
    return watch;
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  /** All versions so far, in the order in which they were stored. @throws if the watch has ended */
  events(): readonly PodEvent[] {
    if (this.#problem !== undefined) throw new Error(this.#problem);
    return this.#events;
  }

  /** The same, with at least all that was stored before the call. */
  async eventsUntilNow(): Promise<readonly PodEvent[]> {
    const { items } = await list();
    const isSeen = ({ metadata }: V1Pod): boolean =>
      this.events().some(({ object }) => {
        const { uid, resourceVersion } = object.metadata ?? {};
        return uid === metadata?.uid && Number(resourceVersion) >= Number(metadata?.resourceVersion);
      });
    await until('the watch has all pods of the list', () => items.every(isSeen), { timeout: CAUGHT_UP_WITHIN });
    return this.events();
  }
}

async function list(): Promise<{ metadata: V1ListMeta; items: V1Pod[] }> {
  return JSON.parse(await getRaw(OF_STACKS)) as { metadata: V1ListMeta; items: V1Pod[] };
}
