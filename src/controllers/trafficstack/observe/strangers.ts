import type { Client } from '../../../runtime/client/client.ts';
import { resourceName, type KubeObject, type Resource } from '../../../runtime/client/resource.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { idOf, type Member } from '../../../runtime/objectSet/member.ts';
import { readLive } from '../../../runtime/objectSet/observe.ts';
import { RecentReads } from './recentReads.ts';

/** Reads objects that may be somebody else's, which are in no cache: each of them, and all of a kind, at most once in 5 s. */
export class StrangerReader {
  readonly #client: Client;
  /** By kind, namespace and name. */
  readonly #recent: RecentReads<KubeObject | undefined>;
  /** By resource. */
  readonly #lists: RecentReads<readonly KubeObject[]>;

  constructor({ client, clock }: { readonly client: Client; readonly clock: Pick<Clock, 'monotonic'> }) {
    this.#client = client;
    this.#recent = new RecentReads(clock);
    this.#lists = new RecentReads(clock);
  }

  /**
   * The object as the API server had it at most 5 s ago; undefined if there was none.
   *
   * @throws ApiError, TransportError
   */
  read(member: Member): Promise<KubeObject | undefined> {
    return this.#recent.read(idOf(member), () => readLive(this.#client, member));
  }

  /**
   * All objects of a kind in all namespaces, or those with the labels of a selector, as the API server had them at most 5 s ago.
   *
   * @throws ApiError, TransportError
   */
  list(resource: Resource, labelSelector?: string): Promise<readonly KubeObject[]> {
    const options = labelSelector === undefined ? {} : { labelSelector };
    return this.#lists.read(`${resourceName(resource)} ${labelSelector}`, () => this.#client.list(resource, options));
  }
}
