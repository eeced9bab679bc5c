import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { expect, vi } from 'vitest';
import { measured, seconds } from '../harness/measured.ts';
import { within } from '../harness/slack.ts';
import { timesStopped } from '../scenario/operatorPods.ts';
import type { Concerns, Seen, StackWatch } from '../scenario/stackWatch.ts';
import { deleteObject, deletePods, idOfRef, killPods, podsOf, uidOf, type ObjectRef } from '../scenario/workloads.ts';

/** A component, and the object of it that is deleted or whose pods are. */
export interface Target extends ObjectRef {
  readonly stack: string;
  readonly component: string;
  /** Another object of the component, which has nothing to do with the fault: its status tells of the worse one. */
  readonly besides?: ObjectRef;
}

/** Faults of components, which their stack names and which are healed. A watch that began before sees each state, however short. */
export class Healing {
  readonly #watches: ReadonlyMap<string, StackWatch>;

  /** @param watches of the stacks of the targets, by name */
  constructor(watches: ReadonlyMap<string, StackWatch>) {
    this.#watches = watches;
  }

  /** Deletes the object of a component, and waits until the stack has named and made it. */
  async deletesObject(target: Target): Promise<void> {
    const uid = await uidOf(target);
    const named = { state: 'Progressing', reason: 'Applying', message: `to create: ${idOfRef(target)}` };
    const fault = async (): Promise<number> => {
      // Of a fault that is repeated while no operator leads: it is gone until one does.
      await vi.waitFor(() => uidOf(target), within(60));
      return begunBy(() => deleteObject(target));
    };
    await this.#isNamed(target, fault, named);
    expect(await uidOf(target)).not.toBe(uid);
  }

  /** The same of a workload, which then has other pods. */
  async deletesWorkload(target: Target): Promise<void> {
    const before = await podsOf(target);
    expect(before.length).toBeGreaterThan(0);
    await this.deletesObject(target);
    await isHealed(target, before, (now) => expect(keptOf(before, now)).toEqual([]));
  }

  /** Deletes all pods of a component, and waits until the stack has named it and there are others. */
  async deletesPods(target: Target): Promise<void> {
    const before = await podsOf(target);
    const fault = () => begunBy(async () => deletePods(await podsOf(target)));
    await this.#isNamed(target, fault, unavailable(target));
    await isHealed(target, before, (now) => expect(keptOf(before, now)).toEqual([]));
  }

  /** Kills all processes of a component, and waits until the stack has named it and they run again. */
  async killsProcesses(target: Target): Promise<void> {
    const before = await podsOf(target);
    const restarts = new Map(containersOf(before).map(({ uid, restartCount }) => [uid, restartCount]));
    await this.#isNamed(target, () => this.#killPodsOf(target), unavailable(target));
    await isHealed(target, before, (now) => {
      for (const { uid, restartCount } of containersOf(now))
        expect(restartCount).toBeGreaterThan(restarts.get(uid) ?? Infinity);
    });
  }

  /**
   * Begins a fault, which tells when it did, and waits until the stack has named it so, and the component is Ready again. It begins when the
   * component is Ready, and again if it was not: events of an earlier fault may be late. No event exists of a fault that comes and goes while no operator leads, as where the API
   * server does not answer for 10 s: then it begins again.
   */
  async #isNamed(
    target: Target,
    fault: () => Promise<number>,
    named: { readonly state: string; readonly reason?: string; readonly message: unknown },
  ): Promise<void> {
    const { stack, component } = target;
    const watch = this.#watches.get(stack)!;
    const { begin, seen } = await this.#namedAfter(target, fault);
    expect(seen.status).toMatchObject({ reason: expect.stringMatching(/^[A-Z]\w+$/) as unknown, ...named });
    const { at } = await watch.healed(component, seen);
    const { state, reason, message } = seen.status;
    const times = `named after ${seconds(seen.at - begin)}, ready after ${seconds(at - begin)}`;
    measured(`${component} of ${stack}: ${times}: ${state} (${reason}): ${message}`);
  }

  async #namedAfter(target: Target, fault: () => Promise<number>): Promise<{ begin: number; seen: Seen }> {
    const { stack, component } = target;
    const watch = this.#watches.get(stack)!;
    for (;;) {
      await watch.ready(component);
      const before = await timesStopped();
      const begin = await fault();
      // What an earlier fault did may be told late, after the wait: no report of this one could be told from it.
      if (!watch.wasReady(component, begin)) continue;
      try {
        return { begin, seen: await watch.named(component, begin, concernOf(target)) };
      } catch (error) {
        if ((await timesStopped()) === before) throw error;
      }
    }
  }

  /**
   * Kills their processes, and once more those that run in their place, if the stack has not told of it. The kubelet starts a container
   * again at once, and may tell of neither its end nor its start; after another end it waits for 10 s.
   *
   * @returns when they were killed last
   */
  async #killPodsOf(target: Target): Promise<number> {
    const { stack, component } = target;
    const before = await podsOf(target);
    const first = performance.now();
    killPods(before);
    const killed = new Set(containersOf(before).map(({ containerID }) => containerID));
    const running = await vi.waitFor(async () => {
      const now = await podsOf(target);
      expect(containersOf(now).filter(({ containerID, ready }) => killed.has(containerID) || !ready)).toEqual([]);
      return now;
    }, within(60));
    const watch = this.#watches.get(stack)!;
    await watch.ready(component);
    if (watch.isNamed(component, first, concernOf(target))) return first;
    const again = performance.now();
    killPods(running);
    return again;
  }
}

async function begunBy(fault: () => Promise<void>): Promise<number> {
  const begin = performance.now();
  await fault();
  return begin;
}

/**
 * Whether a status does not tell of the other workload of a component with two. On a busy machine the pods of that one may miss their probes
 * without a fault of this test, and this workload has no events until they are ready again.
 */
function concernOf({ besides }: Target): Concerns {
  if (besides === undefined) return () => true;
  // The name of one may begin with the name of the other.
  return ({ message }) => !message.split(/[:,;]? /).includes(`${besides.namespace}/${besides.name}`);
}

/** The pods that were there before. */
const keptOf = (before: readonly V1Pod[], now: readonly V1Pod[]): V1Pod[] =>
  now.filter(({ metadata }) => before.some((each) => each.metadata?.uid === metadata?.uid));

/** The containers of pods, each with the uid of its pod. */
const containersOf = (pods: readonly V1Pod[]): (V1ContainerStatus & { uid: string | undefined })[] =>
  pods.flatMap(({ metadata, status }) =>
    (status?.containerStatuses ?? []).map((each) => ({ ...each, uid: metadata?.uid })),
  );

/** Waits until a workload has as many pods as before, all ready, and `isNew` is true of them. */
const isHealed = (target: Target, before: readonly V1Pod[], isNew: (now: readonly V1Pod[]) => void) =>
  vi.waitFor(async () => {
    const now = await podsOf(target);
    expect(now).toHaveLength(before.length);
    for (const { metadata, status } of now) {
      expect(metadata?.deletionTimestamp).toBeUndefined();
      expect(status?.containerStatuses?.map(({ ready }) => ready)).toEqual([true]);
    }
    isNew(now);
  }, within(60));

/** The state and message while fewer pods than desired are available, or the old ones still are. */
const unavailable = (target: Target) => {
  const figures = '((\\d) of (?!\\2)\\d pods are available|\\d of \\d pods are available, \\d of \\d updated)';
  const message = expect.stringMatching(`^${idOfRef(target)}: ${figures}`) as unknown;
  return { state: 'Degraded', message };
};
