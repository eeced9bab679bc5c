import { mayBeIn, type Found, type Seeking, type Sources } from './found.ts';
import { observeServer } from './server.ts';
import { observeWorkload } from './workload.ts';

/**
 * What a built-in component uses in place of objects of its own. Undefined if it has its own:
 *
 * | mode     | its own workload       | one of somebody else | used  |
 * |----------|------------------------|----------------------|-------|
 * | External | any                    | exists               | that  |
 * | External | any                    | is missing           | none: the component waits |
 * | Auto     | exists, also as the flags have made it | any  | its own |
 * | Auto     | is missing             | measures most nodes  | that  |
 * | Auto     | is missing             | was used until now, and is gone | none, until its deadline: the component waits |
 * | Auto     | is missing             | anything else        | its own, which is made |
 *
 * Which one is used is a table in decide/choice.ts. A server measures what its answer to the probe shows. One that was used until now is used for
 * as long as it exists, also while it does not answer: a restart of it moves nothing. The same holds for programs on the nodes that no object
 * shows: with Auto, they are used if most nodes that are asked have one.
 *
 * @throws ApiError, TransportError
 */
export async function observeStandIn({ standIn, ...rest }: Seeking, sources: Sources): Promise<Found | undefined> {
  if (standIn === undefined) return undefined;
  const before = rest.before !== undefined && mayBeIn(standIn, rest.before.namespace) ? rest.before : undefined;
  const seeking = { ...rest, standIn, before };
  const { probe } = standIn;
  return probe === undefined
    ? observeWorkload(seeking, sources)
    : observeServer({ ...seeking, standIn: { ...standIn, probe } }, sources);
}
