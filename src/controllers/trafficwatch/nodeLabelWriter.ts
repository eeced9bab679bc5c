import type { CachedNode } from '../../nodes/cachedNode.ts';
import type { Client } from '../../runtime/client.ts';
import { isNotFound } from '../../runtime/errors.ts';
import { NODES } from '../../runtime/resources.ts';
import type { KubeObject } from '../../runtime/resource.ts';
import type { WrittenObjects } from '../../runtime/writtenObjects.ts';
import type { LabelChange, LabelChanges } from './decide/nodeLabels.ts';

interface Pending {
  change: LabelChange;
  readonly settled: PromiseWithResolvers<undefined>;
}

/**
 * Writes node labels. Changes of several TrafficWatches to one Node that come up together leave in one merge patch of
 * just their keys; a Node has at most one patch under way, and what comes up meanwhile waits for the next one.
 */
export class NodeLabelWriter {
  readonly #client: Client;
  readonly #fieldManager: string;
  readonly #trim: (node: KubeObject) => CachedNode;
  readonly #written: WrittenObjects<CachedNode>;
  readonly #pending = new Map<string, Pending>();
  readonly #writing = new Set<string>();

  /** @param options.client gated on leadership; its transport bounds how many patches are under way. */
  constructor(options: {
    client: Client;
    fieldManager: string;
    trim: (node: KubeObject) => CachedNode;
    written: WrittenObjects<CachedNode>;
  }) {
    this.#client = options.client;
    this.#fieldManager = options.fieldManager;
    this.#trim = options.trim;
    this.#written = options.written;
  }

  /** Resolves when every change was tried, with the errors by node name; a Node that is gone is none. */
  async write(changes: LabelChanges): Promise<ReadonlyMap<string, unknown>> {
    const failures = new Map<string, unknown>();
    const writes = [...changes].map(async ([node, change]) => {
      try {
        await this.#enqueue(node, change);
      } catch (error) {
        failures.set(node, error);
      }
    });
    await Promise.all(writes);
    return failures;
  }

  #enqueue(node: string, change: LabelChange): Promise<undefined> {
    const pending = this.#pending.get(node);
    if (pending) {
      pending.change = { ...pending.change, ...change };
      return pending.settled.promise;
    }
    const settled = Promise.withResolvers<undefined>();
    this.#pending.set(node, { change, settled });
    // Not at once: the other TrafficWatches of this turn of the event loop have their say first.
    if (!this.#writing.has(node)) setImmediate(() => void this.#flush(node));
    return settled.promise;
  }

  async #flush(node: string): Promise<void> {
    const pending = this.#pending.get(node);
    if (!pending) return;
    this.#pending.delete(node);
    this.#writing.add(node);
    try {
      await this.#patch(node, pending.change);
      pending.settled.resolve(undefined);
    } catch (error) {
      pending.settled.reject(error);
    }
    this.#writing.delete(node);
    await this.#flush(node);
  }

  async #patch(node: string, labels: LabelChange): Promise<void> {
    try {
      const patch = { metadata: { labels } };
      const options = { fieldManager: this.#fieldManager };
      const answer = await this.#client.mergePatch(NODES, { name: node }, patch, options);
      this.#written.wrote(this.#trim(answer));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
