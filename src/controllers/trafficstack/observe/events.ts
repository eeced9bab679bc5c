import type { EventsV1Event } from '@kubernetes/client-node';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError, TransportError } from '../../../runtime/client/errors.ts';
import { EVENTS } from '../../../runtime/client/resources.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { StackPlan } from '../decide/plan.ts';
import type { Observation, ObservedComponent, Question, SeenEvent } from './observation.ts';
import { RecentCalls } from './recentCalls.ts';

/**
 * Reads the Events about one object, at most once in 5 s. A watch would make the API server decode every Event of the cluster, which
 * has no cache of them.
 */
export class EventReader {
  readonly #client: Pick<Client, 'list'>;
  /** By uid. */
  readonly #recent: RecentCalls<readonly SeenEvent[]>;

  /** The only namespace whose Events may be read; undefined: the Events of every namespace. */
  readonly #only: string | undefined;

  constructor({
    client,
    clock,
    only,
  }: {
    readonly client: Pick<Client, 'list'>;
    readonly clock: Pick<Clock, 'monotonic'>;
    readonly only?: string | undefined;
  }) {
    this.#client = client;
    this.#recent = new RecentCalls(clock);
    this.#only = only;
  }

  /**
   * Returns the Events about an object; none if they may not or cannot be read, which only makes a message shorter.
   */
  read({ namespace, uid }: Question): Promise<readonly SeenEvent[]> {
    if (this.#only !== undefined && namespace !== this.#only) return Promise.resolve([]);
    return this.#recent.call(uid, async () => {
      const fieldSelector = `regarding.uid=${uid}`;
      const events = await this.#client.list(EVENTS, { namespace, fieldSelector }).catch(noneIfUnread);
      return events.map(trimEvent);
    });
  }
}

/** The observation with the Events that the plan asks for. Undefined if it asks for none. */
export async function withEvents(
  observation: Observation,
  { questions }: Pick<StackPlan, 'questions'>,
  reader: Pick<EventReader, 'read'>,
): Promise<Observation | undefined> {
  return withAnswers(observation, questions, async (question) => ({ told: await reader.read(question) }));
}

/** The observation with what is read for the components that something is asked about. Undefined if nothing is. */
export async function withAnswers<Q>(
  observation: Observation,
  asked: ReadonlyMap<string, Q>,
  read: (about: Q) => Promise<Partial<ObservedComponent>>,
): Promise<Observation | undefined> {
  if (asked.size === 0) return undefined;
  const components = [];
  for (const component of observation.components) {
    const about = asked.get(component.spec.name);
    components.push(about === undefined ? component : { ...component, ...(await read(about)) });
  }
  return { ...observation, components };
}

/** For what only makes a message longer: that it cannot be read keeps nothing from being decided. @throws any error of this program */
export function noneIfUnread(error: unknown): never[] {
  if (error instanceof ApiError || error instanceof TransportError) return [];
  throw error;
}

/** Controllers of Kubernetes write Events of the older API, whose fields have other names. */
function trimEvent(event: EventsV1Event): SeenEvent {
  const { type, reason = '', note = '', series, deprecatedLastTimestamp, metadata } = event;
  const at = series?.lastObservedTime ?? deprecatedLastTimestamp ?? metadata?.creationTimestamp ?? 0;
  return { isWarning: type === 'Warning', reason, message: note, at: Number(new Date(at)) };
}
