import { durationMs } from '../../../../api/fieldSchemas.ts';
import { DEFAULT_DEADLINE } from '../../../../api/trafficstack/terms.ts';
import type { ComponentSpec, TrafficStack } from '../../../../api/trafficstack/trafficStack.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import type { Sightings } from '../answers/sightings.ts';
import type { Seeking } from './found.ts';

/** How long a component waits for what it used, and whether it has waited so long. A process that has just started begins anew. */
export function patienceOf(
  { metadata }: TrafficStack,
  { name, deadline: patience = DEFAULT_DEADLINE }: ComponentSpec,
  { sightings, clock }: { readonly sightings: Pick<Sightings, 'of'>; readonly clock: Pick<Clock, 'monotonic'> },
): Pick<Seeking, 'patience' | 'isOver'> {
  const since = sightings.of(metadata?.name ?? '').awaiting.get(name)?.at;
  return { patience, isOver: since !== undefined && clock.monotonic() - since >= durationMs(patience) };
}
