import type { EventsV1Event } from '@kubernetes/client-node';
import type { Client } from '../../../runtime/client/client.ts';
import { isForbidden } from '../../../runtime/client/errors.ts';
import { EVENTS } from '../../../runtime/client/resources.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { StackPlan } from '../decide/plan.ts';
import type { Observation, Question, SeenEvent } from './observation.ts';

/** ms: a component may be reconciled several times in a second while its pods begin. */
const KEPT_MS = 5_000;

/**
 * Reads the Events about one object, at most once in 5 s. A watch would make the API server decode every Event of the cluster, which
 * has no cache of them.
 */
export class EventReader {
  readonly #client: Pick<Client, 'list'>;
  readonly #clock: Pick<Clock, 'now'>;
  /** By uid. */
  readonly #known = new Map<string, { readonly at: number; readonly events: readonly SeenEvent[] }>();

  constructor({ client, clock }: { readonly client: Pick<Client, 'list'>; readonly clock: Pick<Clock, 'now'> }) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * The Events about an object; none if they may not be read, which only makes a message shorter.
   *
   * @throws ApiError, TransportError
   */
  async read({ namespace, uid }: Question): Promise<readonly SeenEvent[]> {
    const now = this.#clock.now();
    for (const [key, { at }] of this.#known) if (now - at >= KEPT_MS) this.#known.delete(key);
    const known = this.#known.get(uid);
    if (known !== undefined) return known.events;
    const fieldSelector = `regarding.uid=${uid}`;
    const events = await this.#client.list(EVENTS, { namespace, fieldSelector }).catch(noneIfForbidden);
    const seen = events.map(trimEvent);
    this.#known.set(uid, { at: now, events: seen });
    return seen;
  }
}

/**
 * The observation with the Events that the plan asks for. Undefined if it asks for none.
 *
 * @throws ApiError, TransportError
 */
export async function withEvents(
  observation: Observation,
  { questions }: Pick<StackPlan, 'questions'>,
  reader: Pick<EventReader, 'read'>,
): Promise<Observation | undefined> {
  if (questions.size === 0) return undefined;
  const components = [];
  for (const component of observation.components) {
    const question = questions.get(component.spec.name);
    components.push(question === undefined ? component : { ...component, told: await reader.read(question) });
  }
  return { ...observation, components };
}

function noneIfForbidden(error: unknown): EventsV1Event[] {
  if (isForbidden(error)) return [];
  throw error;
}

/** Controllers of Kubernetes write Events of the older API, whose fields have other names. */
function trimEvent(event: EventsV1Event): SeenEvent {
  const { type, reason = '', note = '', series, deprecatedLastTimestamp, metadata } = event;
  const at = series?.lastObservedTime ?? deprecatedLastTimestamp ?? metadata?.creationTimestamp ?? 0;
  return { isWarning: type === 'Warning', reason, message: note, at: Number(new Date(at)) };
}
