import type { Clock } from '../../../runtime/process/clock.ts';
import type { Progress } from '../decide/report/status.ts';
import type { LabelChange, LabelChanges } from '../model/label.ts';

/** Whose patches they are. */
export interface Payer {
  /** The namespace of the TrafficWatch. */
  readonly namespace: string;
  /** How many nodes the cluster has. */
  readonly nodes: number;
  /** The name of the TrafficWatch. Absent: patches for others take nothing of the call along. */
  readonly watch?: string;
  /** The nodes that become unfit, or are no longer: they come before those that get or lose a `false`. See urgentNodes. */
  readonly urgent: ReadonlySet<string>;
}

/** Delay before labels that wait for their allowance are written: ms. */
export const BEHIND_MS = 5_000;

/** The error of a node that was not patched, because its namespace has used its allowance. */
const BEHIND = new Error('the namespace has used its allowance of label writes');

/** Whether a node was not patched because its namespace has used its allowance. */
export function isBehind(error: unknown): boolean {
  return error === BEHIND;
}

/**
 * How long a change that waits for its allowance is written along with a patch of its node: ms. Its TrafficWatch decides again after
 * BEHIND_MS, and replaces it; beyond this time the TrafficWatch is gone, or does not decide.
 */
const ALONG_MS = 2 * BEHIND_MS;

/** The state of one call of `write`. */
export class WriteCall {
  /** Undefined if the caller never cancels. */
  readonly signal: AbortSignal | undefined;
  /** Undefined for writes without a limit. */
  readonly payer: Payer | undefined;
  readonly #changes: LabelChanges;
  readonly #failures = new Map<string, unknown>();
  readonly #behind = new Set<string>();
  readonly #result = Promise.withResolvers<ReadonlyMap<string, unknown>>();
  #remaining: number;

  constructor(changes: LabelChanges, signal: AbortSignal | undefined, payer: Payer | undefined) {
    this.#changes = changes;
    this.#remaining = changes.size;
    this.signal = signal;
    this.payer = payer;
    this.#resolveWhenDone();
  }

  /** The namespace whose turn the call waits for. */
  get group(): string {
    return this.payer?.namespace ?? '';
  }

  /** Resolves with the errors by node name when all nodes were tried. */
  get failures(): Promise<ReadonlyMap<string, unknown>> {
    return this.#result.promise;
  }

  get progress(): Progress {
    return { done: this.#changes.size - this.#remaining, of: this.#changes.size };
  }

  isUrgent(node: string): boolean {
    return this.payer?.urgent.has(node) === true;
  }

  nodeDone(): void {
    this.#remaining -= 1;
    this.#resolveWhenDone();
  }

  /** @param refused the errors of single keys */
  nodeTried(node: string, refused: ReadonlyMap<string, unknown>): void {
    const key = Object.keys(refused.size === 0 ? {} : (this.#changes.get(node) ?? {})).find((own) => refused.has(own));
    if (key === undefined) this.nodeDone();
    else this.nodeFailed(node, refused.get(key));
  }

  nodeFailed(node: string, error: unknown): void {
    this.#failures.set(node, error);
    this.nodeDone();
  }

  nodeBehind(node: string): void {
    this.#behind.add(node);
    this.nodeFailed(node, BEHIND);
  }

  /** The change of a node that waits for the allowance. */
  behindOf(node: string): LabelChange | undefined {
    return this.#behind.has(node) ? this.#changes.get(node) : undefined;
  }

  /** Call when the change of the node is written with the patch of another TrafficWatch. */
  notBehind(node: string): void {
    this.#behind.delete(node);
  }

  #resolveWhenDone(): void {
    if (this.#remaining === 0) this.#result.resolve(this.#failures);
  }
}

/**
 * The last calls of TrafficWatches with changes that wait for the allowance of their namespace. A patch of a node takes all of them along,
 * so that the TrafficWatches of a namespace need one token for each node together. Holds one call of a TrafficWatch at most.
 */
export class BehindCalls {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** By namespace, then by TrafficWatch, with the time from which on they are not written: monotonic ms. The oldest first. */
  readonly #calls = new Map<string, Map<string, { readonly call: WriteCall; readonly until: number }>>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  add(call: WriteCall): void {
    const { group, payer } = call;
    const watch = payer?.watch;
    if (watch === undefined) return;
    const calls = this.#calls.get(group) ?? new Map<string, { call: WriteCall; until: number }>();
    if (calls.get(watch)?.call === call) return;
    calls.delete(watch);
    calls.set(watch, { call, until: this.#clock.monotonic() + ALONG_MS });
    this.#calls.set(group, calls);
  }

  /** Call when a TrafficWatch has decided again: its earlier changes no longer count. */
  replace({ group, payer }: WriteCall): void {
    if (payer?.watch !== undefined) this.#calls.get(group)?.delete(payer.watch);
    if (this.#calls.get(group)?.size === 0) this.#calls.delete(group);
  }

  /** The calls of these namespaces with a change of the node that counts. Forgets those that are too old. */
  of(node: string, groups: ReadonlySet<string>): WriteCall[] {
    const found: WriteCall[] = [];
    for (const group of groups) {
      const calls = this.#calls.get(group);
      for (const [watch, { call, until }] of calls ?? []) {
        if (until <= this.#clock.monotonic()) calls?.delete(watch);
        else if (call.behindOf(node) !== undefined) found.push(call);
      }
    }
    return found;
  }
}
