import type { Client } from '../runtime/client/client.ts';
import type { Clock } from '../runtime/process/clock.ts';
import type { Lister } from '../runtime/cache/informer.ts';
import { NODES } from '../runtime/client/resources.ts';
import { forEachAtOnce } from '../runtime/async/limit.ts';
import type { CachedNode } from './cachedNode.ts';
import { createPlacementMatcher, type Placement } from './nodeAffinity.ts';
import { LEFT_OUT, stateOf, whyNotMeasurable, type NodeState, type NotMeasurable } from './notMeasurable.ts';

/** How soon a node that still has no figures is read again: ms. */
const LOOK_AGAIN_MS = 20_000;
/** A new node has no figures at first. It is not read before this age: ms. */
const JOINING_MS = 60_000;
/** Maximum number of nodes that are read after one pass. If thousands lack figures, the cause is not the nodes. */
const LOOKS_AT_MOST = 100;
/** Maximum number of parallel requests, of the 16 that the transport allows. */
const AT_ONCE = 4;
/** Maximum time that decisions wait for the requests: ms. Later results count in the next pass. */
const LONGEST_WAIT_MS = 2_000;

const NONE: ReadonlyMap<string, NotMeasurable> = new Map();

/**
 * The parts of a pass that are needed here: whether it succeeded, and the figures of nodes. A node without a percent that
 * has a rate can be measured: what is missing is its capacity, which the Node object does not explain.
 */
export interface Measured {
  readonly ok: boolean;
  readonly nodes: ReadonlyMap<
    string,
    { readonly percent?: number | undefined; readonly bytesPerSecond?: number | undefined }
  >;
}

interface Look {
  /** ms of the monotonic clock. */
  readonly at: number;
  readonly state: NodeState;
}

type NeverMeasured = (node: CachedNode) => NotMeasurable | undefined;

interface UnmeasuredNodesOptions {
  readonly client: Pick<Client, 'list'>;
  readonly clock: Clock;
  readonly nodes: Pick<Lister<CachedNode>, 'list'>;
  /** Where the exporter runs that the operator deploys; undefined if it deploys none, or does not know it yet. */
  readonly exporter?: () => Placement | undefined;
}

/**
 * Finds out why nodes have no figures. It reads only these nodes from the API server. The informer may cache only
 * metadata, and caching the conditions of up to 50,000 Nodes would cost memory.
 */
export class UnmeasuredNodes {
  readonly #options: UnmeasuredNodesOptions;
  readonly #looks = new Map<string, Look>();
  #found = NONE;
  #latest: { readonly pass: Measured; readonly looked: Promise<void> } | undefined;

  constructor(options: UnmeasuredNodesOptions) {
    this.#options = options;
  }

  /** The nodes that cannot be measured, by name. The same map until something changes. */
  get notMeasurable(): ReadonlyMap<string, NotMeasurable> {
    return this.#found;
  }

  /**
   * Reads the nodes without figures in the pass, once for each pass. Resolves at the end, or after LONGEST_WAIT_MS.
   * Never rejects.
   */
  lookedAt(pass: Measured | undefined): Promise<void> {
    // A failed pass has no figures of any node, which says nothing about the nodes.
    if (!pass?.ok) return Promise.resolve();
    if (this.#latest?.pass !== pass) this.#latest = { pass, looked: this.#look(pass) };
    return this.#latest.looked;
  }

  async #look(pass: Measured): Promise<void> {
    const unmeasured = this.#options.nodes.list().filter(({ name }) => isUnmeasured(pass, name));
    this.#forgetOthers(unmeasured);
    const never = this.#neverMeasured();
    const due = this.#dueOf(unmeasured.filter((node) => never(node) === undefined));
    if (due.length > 0) {
      const looked = forEachAtOnce(due, AT_ONCE, (name) => this.#lookAt(name));
      await this.#within(looked.then(() => this.#find(unmeasured, never)));
    }
    this.#find(unmeasured, never);
  }

  /** Why a node needs not be read: its labels or annotations say so, or no exporter runs there. */
  #neverMeasured(): NeverMeasured {
    const placement = this.#options.exporter?.();
    const runs = placement === undefined ? undefined : createPlacementMatcher(placement);
    return (node) => node.neverMeasured ?? (runs === undefined || runs(node) ? undefined : LEFT_OUT);
  }

  /** The names of the nodes to read now, those that were read longest ago first. */
  #dueOf(unmeasured: readonly CachedNode[]): string[] {
    const { clock } = this.#options;
    const lastAt = (name: string): number => this.#looks.get(name)?.at ?? -Infinity;
    return unmeasured
      .filter(({ createdAt }) => clock.now() - createdAt >= JOINING_MS)
      .map(({ name }) => name)
      .filter((name) => clock.monotonic() - lastAt(name) >= LOOK_AGAIN_MS)
      .sort((a, b) => lastAt(a) - lastAt(b))
      .slice(0, LOOKS_AT_MOST);
  }

  /** Reads one Node with a LIST, because the operator has the right to list nodes but not to get them. */
  async #lookAt(name: string): Promise<void> {
    const at = this.#options.clock.monotonic();
    const before = this.#looks.get(name)?.state ?? {};
    try {
      const fieldSelector = `metadata.name=${name}`;
      const [node] = await this.#options.client.list(NODES, { fieldSelector });
      this.#looks.set(name, { at, state: node === undefined ? {} : stateOf(node) });
    } catch {
      // After an error, keep the last known state. The next read follows after the usual delay.
      this.#looks.set(name, { at, state: before });
    }
  }

  #find(unmeasured: readonly CachedNode[], never: NeverMeasured): void {
    const { clock } = this.#options;
    const found = new Map<string, NotMeasurable>();
    for (const node of unmeasured) {
      const why = never(node) ?? whyNotMeasurable(this.#looks.get(node.name)?.state ?? {}, clock.now());
      if (why !== undefined) found.set(node.name, why);
    }
    if (!isSame(found, this.#found)) this.#found = found;
  }

  #forgetOthers(unmeasured: readonly CachedNode[]): void {
    if (this.#looks.size === 0) return;
    const names = new Set(unmeasured.map(({ name }) => name));
    for (const name of this.#looks.keys()) if (!names.has(name)) this.#looks.delete(name);
  }

  async #within(work: Promise<void>): Promise<void> {
    const over = new AbortController();
    const wait = this.#options.clock.sleep(LONGEST_WAIT_MS, over.signal);
    await Promise.race([work, wait]);
    over.abort();
  }
}

function isUnmeasured({ nodes }: Measured, name: string): boolean {
  const { percent, bytesPerSecond } = nodes.get(name) ?? {};
  return percent === undefined && bytesPerSecond === undefined;
}

function isSame(one: ReadonlyMap<string, NotMeasurable>, other: ReadonlyMap<string, NotMeasurable>): boolean {
  return one.size === other.size && [...one].every(([name, why]) => other.get(name) === why);
}
