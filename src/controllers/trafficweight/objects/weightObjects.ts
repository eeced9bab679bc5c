import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { InformerEvent, Lister } from '../../../runtime/cache/store.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import type { Part } from '../../../runtime/process/part.ts';
import type { StatusWriter } from '../../../runtime/status/statusWriter.ts';

/** The TrafficWeights of a process, and the writers of their status and events. */
export interface WeightObjects {
  readonly lister: Pick<Lister<TrafficWeight>, 'get' | 'list'>;
  /** Calls `onEvent` for each existing TrafficWeight, and for each change. */
  subscribe(onEvent: (event: InformerEvent<TrafficWeight>) => void): void;
  readonly statuses: Pick<StatusWriter<TrafficWeight>, 'newest' | 'write' | 'forget'>;
  /** Records events about a TrafficWeight. */
  readonly events: Pick<EventRecorder, 'event'>;
  readonly parts: readonly Part[];
}
