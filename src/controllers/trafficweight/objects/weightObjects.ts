import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { InformerEvent, Lister } from '../../../runtime/cache/store.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import type { Part } from '../../../runtime/process/part.ts';
import type { StatusWriter } from '../../../runtime/status/statusWriter.ts';

/** The TrafficWeights of a process, and where their status goes. */
export interface WeightObjects {
  readonly lister: Pick<Lister<TrafficWeight>, 'get' | 'list'>;
  /** Calls for each TrafficWeight that there is, and for each change. */
  subscribe(onEvent: (event: InformerEvent<TrafficWeight>) => void): void;
  readonly statuses: Pick<StatusWriter<TrafficWeight>, 'newest' | 'write' | 'forget'>;
  /** Of what happens to a TrafficWeight. */
  readonly events: Pick<EventRecorder, 'event'>;
  readonly parts: readonly Part[];
}
