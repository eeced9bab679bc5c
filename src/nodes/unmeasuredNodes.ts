import type { Client } from '../runtime/client/client.ts';
import type { Clock } from '../runtime/process/clock.ts';
import type { Lister } from '../runtime/cache/informer.ts';
import { NODES } from '../runtime/client/resources.ts';
import type { CachedNode } from './cachedNode.ts';
import { stateOf, whyNotMeasurable, type NodeState, type NotMeasurable } from './notMeasurable.ts';

/** How soon a node that still has no figures is looked at again: ms. */
const LOOK_AGAIN_MS = 20_000;
/** A node that joins is without figures for a while. Nobody asks why before that: ms. */
const JOINING_MS = 60_000;
/** Looks after one pass; where thousands of nodes lack figures, it is not the nodes. */
const LOOKS_AT_MOST = 100;
/** Looks under way at once: of the 16 calls that there may be. */
const AT_ONCE = 4;
/** Decisions wait no longer for looks: ms. What is found later counts in the next pass. */
const LONGEST_WAIT_MS = 2_000;

const NONE: ReadonlyMap<string, NotMeasurable> = new Map();

/** What has to be known of a pass: whether it has figures at all, and of which nodes. */
export interface Measured {
  readonly ok: boolean;
  readonly nodes: ReadonlyMap<string, { readonly percent?: number | undefined }>;
}

interface Look {
  /** By the monotonic clock. */
  readonly at: number;
  readonly state: NodeState;
}

export interface UnmeasuredNodesOptions {
  readonly client: Pick<Client, 'list'>;
  readonly clock: Clock;
  readonly nodes: Pick<Lister<CachedNode>, 'list'>;
}

/**
 * Finds out why nodes have no figures. Only these are looked at: the cache holds metadata alone where whole Nodes are
 * not needed, and what a Node says of itself would be kept in memory for each of 50,000.
 */
export class UnmeasuredNodes {
  readonly #options: UnmeasuredNodesOptions;
  readonly #looks = new Map<string, Look>();
  #found = NONE;
  #latest: { readonly pass: Measured; readonly looked: Promise<void> } | undefined;

  constructor(options: UnmeasuredNodesOptions) {
    this.#options = options;
  }

  /** By name, the nodes without figures that can have none. The same map until something changes. */
  get notMeasurable(): ReadonlyMap<string, NotMeasurable> {
    return this.#found;
  }

  /** Resolves when the nodes that the pass has no figures of were looked at, or after two seconds; once for each pass. */
  lookedAt(pass: Measured | undefined): Promise<void> {
    // A pass that failed has no figures of any node, which is no news of them.
    if (!pass?.ok) return Promise.resolve();
    if (this.#latest?.pass !== pass) this.#latest = { pass, looked: this.#look(pass) };
    return this.#latest.looked;
  }

  async #look(pass: Measured): Promise<void> {
    const unmeasured = this.#options.nodes.list().filter(({ name }) => pass.nodes.get(name)?.percent === undefined);
    this.#forgetOthers(unmeasured);
    const due = this.#dueOf(unmeasured);
    if (due.length > 0) await this.#within(this.#lookAtAll(due).then(() => this.#find(unmeasured)));
    this.#find(unmeasured);
  }

  /** The ones that were looked at longest ago first. */
  #dueOf(unmeasured: readonly CachedNode[]): string[] {
    const { clock } = this.#options;
    const lastAt = (name: string): number => this.#looks.get(name)?.at ?? -Infinity;
    return unmeasured
      .filter(({ neverMeasured, createdAt }) => neverMeasured === undefined && clock.now() - createdAt >= JOINING_MS)
      .map(({ name }) => name)
      .filter((name) => clock.monotonic() - lastAt(name) >= LOOK_AGAIN_MS)
      .sort((a, b) => lastAt(a) - lastAt(b))
      .slice(0, LOOKS_AT_MOST);
  }

  async #lookAtAll(names: string[]): Promise<void> {
    const line = names.values();
    const worker = async (): Promise<void> => {
      for (const name of line) await this.#lookAt(name);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  /** A list of one: the right to list nodes is there anyway, that to get them is not. */
  async #lookAt(name: string): Promise<void> {
    const at = this.#options.clock.monotonic();
    const before = this.#looks.get(name)?.state ?? {};
    try {
      const fieldSelector = `metadata.name=${name}`;
      const [node] = await this.#options.client.list(NODES, { fieldSelector });
      this.#looks.set(name, { at, state: node === undefined ? {} : stateOf(node) });
    } catch {
      // Without an answer, what was known still stands; the next look comes as soon as after any other.
      this.#looks.set(name, { at, state: before });
    }
  }

  #find(unmeasured: readonly CachedNode[]): void {
    const { clock } = this.#options;
    const found = new Map<string, NotMeasurable>();
    for (const { name, neverMeasured } of unmeasured) {
      const why = neverMeasured ?? whyNotMeasurable(this.#looks.get(name)?.state ?? {}, clock.now());
      if (why !== undefined) found.set(name, why);
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

function isSame(one: ReadonlyMap<string, NotMeasurable>, other: ReadonlyMap<string, NotMeasurable>): boolean {
  return one.size === other.size && [...one].every(([name, why]) => other.get(name) === why);
}
