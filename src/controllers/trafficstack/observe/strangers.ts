import type { Client } from '../../../runtime/client/client.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { idOf, type Member } from '../../../runtime/objectSet/member.ts';
import { readLive } from '../../../runtime/objectSet/observe.ts';

/** ms: less than the time after which they are looked at again, so that each look is a new one. */
const KEPT_MS = 5_000;

/**
 * Reads objects that may be somebody else's, which are in no cache, at most once in 5 s each: while its pods begin, a stack is reconciled
 * several times in a second.
 */
export class StrangerReader {
  readonly #client: Client;
  readonly #clock: Pick<Clock, 'now'>;
  /** By kind, namespace and name. */
  readonly #known = new Map<string, { readonly at: number; readonly live: KubeObject | undefined }>();

  constructor({ client, clock }: { readonly client: Client; readonly clock: Pick<Clock, 'now'> }) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * The object as the API server had it at most 5 s ago; undefined if there was none.
   *
   * @throws ApiError, TransportError
   */
  async read(member: Member): Promise<KubeObject | undefined> {
    const now = this.#clock.now();
    for (const [key, { at }] of this.#known) if (now - at >= KEPT_MS) this.#known.delete(key);
    const known = this.#known.get(idOf(member));
    if (known !== undefined) return known.live;
    const live = await readLive(this.#client, member);
    this.#known.set(idOf(member), { at: now, live });
    return live;
  }
}
