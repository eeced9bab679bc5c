import { Busiest } from '../../../runtime/async/limit.ts';
import { LinkedList } from './linkedList.ts';

/** Reviews at a time, and reviews that wait: after a restart all agents of 1,000 nodes may report within a second. */
const MOST_AT_A_TIME = 20;
const MOST_WAITING = 2_000;
/** Addresses that wait for one pod. A pod has one or two; the number bounds the work when a review ends. */
const MOST_OF_POD = 16;

/** Who asks for a review. `ReviewQueue` says which of it can be forged. */
export interface Claimant {
  /** The address that the connection came from. */
  readonly source: string;
  /** The pod that the token claims, `NAMESPACE/NAME`. It is not verified. */
  readonly pod: string;
}

/** Ends a turn. */
type EndTurn = () => void;

interface Source {
  /** The tokens that may have the next turn of the source, in their order. */
  readonly ready: LinkedList<Waiting>;
  /** The pods that it waits for. */
  readonly pods: Set<string>;
  /** It is in the rotation. */
  isInTurn: boolean;
  /** A pod is reserved for one of its tokens. */
  hasReserved: boolean;
}

interface Pod {
  isUnderWay: boolean;
  /** Nothing else of the pod begins before this one. */
  reservedFor: Waiting | undefined;
  /** The tokens whose turn came while a review of the pod was under way or reserved, in this order. */
  parked: Waiting[];
  /** The number of tokens that wait, parked or not. */
  waiting: number;
}

interface Waiting {
  readonly claimant: Claimant;
  readonly source: Source;
  readonly pod: Pod;
  /** @param end undefined: the review is refused */
  readonly settle: (end: EndTurn | undefined) => void;
}

/**
 * Limits the reviews that run at a time and those that wait, and gives each source its share.
 *
 * Which key can be trusted: a forger chooses the claims of a token. It may claim each agent whose name and uid it knows, in
 * any number of tokens. It cannot choose the address of its connection: the answer to a false address does not reach it,
 * so TCP does not connect, and a pod has one address for each family. So sources share the turns. But one source may
 * stand for many agents: agents behind a proxy, on a node that translates addresses, or in the network of the host. So
 * within a source each claimed pod has one place. The remaining risk: a forger can delay and refuse the agents that it
 * claims, if they share its address.
 *
 * | event | result |
 * |---|---|
 * | the source waits for the same pod already | refused |
 * | 16 sources wait for the same pod | refused |
 * | 2,000 wait, and a source has more of them than this one would have | the newest of the source with most is refused |
 * | 2,000 wait otherwise | refused |
 * | a review ends | the next source in the rotation has a turn, with its oldest token |
 * | the turn of a token comes while its pod is under way or reserved | it waits for the pod, and its source continues with the next |
 * | the review of a pod ends | the pod is reserved for the first that waits for it |
 *
 * One review of a pod is under way at a time. An agent waits for at most 15 other reviews of its pod, one for each other
 * source that waits for the pod, and for a round of the rotation for each, however many tokens a forger sends. A source has
 * one pod reserved at a time; otherwise a forger could reserve all pods that it claims.
 *
 * The cost of each event does not depend on the number that wait, except for the at most 16 that wait for a pod.
 */
export class ReviewQueue {
  #running = 0;
  #waiting = 0;
  readonly #sources = new Map<string, Source>();
  readonly #pods = new Map<string, Pod>();
  /** Sources with a token that is ready, in the order of their turns. */
  readonly #rotation = new LinkedList<Source>();
  /** By the tokens that wait. */
  readonly #busiest = new Busiest<Source>();

  /** Waits for a turn. @returns the function that ends the turn; undefined if the review is refused */
  enter(claimant: Claimant): Promise<EndTurn | undefined> {
    const source = this.#sources.get(claimant.source) ?? newSource();
    const pod = this.#pods.get(claimant.pod) ?? newPod();
    if (source.pods.has(claimant.pod) || pod.waiting >= MOST_OF_POD || !this.#hasRoom(source)) {
      return Promise.resolve(undefined);
    }
    return new Promise((settle) => {
      this.#add({ claimant, source, pod, settle });
      this.#giveTurns();
    });
  }

  /** Makes room in a full queue, if another source takes more of it than this one would. */
  #hasRoom(source: Source): boolean {
    if (this.#waiting < MOST_WAITING) return true;
    const most = this.#busiest.first;
    if (most === undefined || this.#busiest.of(most) <= this.#busiest.of(source) + 1) return false;
    // Undefined if all of it are parked, which are few.
    const newest = most.ready.pop();
    if (newest === undefined) return false;
    this.#forget(newest);
    newest.settle(undefined);
    return true;
  }

  #add(waiting: Waiting): void {
    const { claimant, source, pod } = waiting;
    this.#sources.set(claimant.source, source);
    this.#pods.set(claimant.pod, pod);
    this.#waiting += 1;
    pod.waiting += 1;
    source.pods.add(claimant.pod);
    this.#busiest.add(source);
    source.ready.push(waiting);
    this.#putInTurn(source);
  }

  /** Removes a token that no longer waits: its turn has come, or it is refused. */
  #forget(waiting: Waiting): void {
    const { claimant, source, pod } = waiting;
    this.#waiting -= 1;
    pod.waiting -= 1;
    source.pods.delete(claimant.pod);
    this.#busiest.remove(source);
    if (source.pods.size === 0) this.#sources.delete(claimant.source);
    if (pod.waiting === 0 && !pod.isUnderWay) this.#pods.delete(claimant.pod);
    if (pod.reservedFor !== waiting) return;
    pod.reservedFor = undefined;
    source.hasReserved = false;
    if (!pod.isUnderWay) this.#reserve(pod);
  }

  #putInTurn(source: Source): void {
    if (source.isInTurn || source.ready.isEmpty) return;
    source.isInTurn = true;
    this.#rotation.push(source);
  }

  #giveTurns(): void {
    while (this.#running < MOST_AT_A_TIME) {
      const source = this.#rotation.shift();
      if (source === undefined) return;
      source.isInTurn = false;
      const next = takeNext(source);
      this.#putInTurn(source);
      if (next !== undefined) this.#begin(next);
    }
  }

  #begin(waiting: Waiting): void {
    const { pod, claimant, settle } = waiting;
    pod.isUnderWay = true;
    this.#running += 1;
    this.#forget(waiting);
    settle(() => this.#end(pod, claimant));
  }

  #end(pod: Pod, { pod: name }: Claimant): void {
    pod.isUnderWay = false;
    this.#running -= 1;
    if (pod.waiting === 0) this.#pods.delete(name);
    this.#reserve(pod);
    this.#giveTurns();
  }

  /** Reserves the pod for its first parked token whose source has no reserved pod. Without one, all parked tokens are ready again. */
  #reserve(pod: Pod): void {
    const next = pod.parked.find(({ source }) => !source.hasReserved);
    const freed = next === undefined ? pod.parked : [next];
    pod.parked = next === undefined ? [] : pod.parked.filter((each) => each !== next);
    pod.reservedFor = next;
    if (next !== undefined) next.source.hasReserved = true;
    for (const each of freed) {
      // Only a reserved token goes to the front: others wait for it.
      if (each === next) each.source.ready.unshift(each);
      else each.source.ready.push(each);
      this.#putInTurn(each.source);
    }
  }
}

/** Takes the first token of a source whose pod is free, and parks the tokens before it. */
function takeNext({ ready }: Source): Waiting | undefined {
  for (let next = ready.shift(); next !== undefined; next = ready.shift()) {
    const { pod } = next;
    const isFree = !pod.isUnderWay && (pod.reservedFor === undefined || pod.reservedFor === next);
    if (isFree) return next;
    pod.parked.push(next);
  }
  return undefined;
}

function newSource(): Source {
  return { ready: new LinkedList(), pods: new Set(), isInTurn: false, hasReserved: false };
}

function newPod(): Pod {
  return { isUnderWay: false, reservedFor: undefined, parked: [], waiting: 0 };
}
