import type { UsedObject } from '../../../../api/trafficstack/trafficStack.ts';
import { NODES } from '../../../../runtime/client/resources.ts';
import { URL_KIND } from '../../model/choice.ts';
import type { ObservedExternal } from '../observation.ts';
import {
  isLimited,
  isOurs,
  mayBeIn,
  observedObject,
  OUTSIDE,
  refOf,
  type Found,
  type Seeking,
  type SeekingStandIn,
  type Sources,
} from './found.ts';
import { observeServer } from './server.ts';
import { observeWorkload } from './workload.ts';

/**
 * What a built-in component uses in place of objects of its own. Undefined if it has its own:
 *
 * | mode           | an object is named | its own workload | an object of another owner | used |
 * |----------------|-----|-----------------------------------|----------------------|------|
 * | External, Auto | yes | any                               | any                  | the named object alone: see observeNamed |
 * | External       | no  | any                               | exists               | that |
 * | External       | no  | any                               | is missing           | none: the component waits |
 * | Auto           | no  | exists, also as the flags have made it | any             | its own |
 * | Auto           | no  | is missing                        | measures most nodes  | that |
 * | Auto           | no  | is missing                        | anything else        | its own, which is made |
 *
 * What is named and what a search uses are tables in model/choice.ts. A server measures what its answer to the
 * probe shows. The same holds for programs on the nodes that no object shows: with Auto, they are used if most nodes that are asked have one.
 *
 * @throws ApiError, TransportError
 */
export async function observeStandIn({ standIn, ...rest }: Seeking, sources: Sources): Promise<Found | undefined> {
  if (standIn === undefined) return undefined;
  const seeking = { ...rest, standIn };
  const named = stillNamed(seeking);
  if (named !== undefined) return observeNamed({ ...seeking, named }, sources);
  const { probe } = standIn;
  return probe === undefined
    ? observeWorkload(seeking, sources)
    : observeServer({ ...seeking, standIn: { ...standIn, probe } }, sources);
}

/** What a search has found is named no longer once the flags exclude its namespace: the operator searches again. */
function stillNamed({ named, standIn, mode }: SeekingStandIn): SeekingStandIn['named'] {
  if (named === undefined || named.fromSpec === true) return named;
  const isHidden = named.kind === NODES.kind && mode === 'Auto' && isLimited(standIn);
  return !isHidden && mayBeIn(standIn, named.namespace) ? named : undefined;
}

type SeekingNamed = SeekingStandIn & { readonly named: UsedObject };

/**
 * Reads the one object that a component uses, and nothing else. While it does not exist, there is none.
 *
 * | the named object                                       | the component      |
 * |--------------------------------------------------------|--------------------|
 * | is in a namespace that the flags do not allow          | cannot use it: it is not read |
 * | does not exist                                         | waits for it       |
 * | is of this operator, or is not what is sought          | cannot use it      |
 * | is a Prometheus that does not answer                   | goes on to use it, and reports the problem |
 * | is a program on the nodes, and no node answers         | the same           |
 * | exists                                                 | uses it            |
 *
 * @throws ApiError, TransportError
 */
async function observeNamed(seeking: SeekingNamed, sources: Omit<Sources, 'measurable'>): Promise<Found> {
  const { standIn, named, used } = seeking;
  const { resource, sought } = standIn;
  if (named.kind === NODES.kind) return observeNodes(seeking, sources);
  if (named.kind === URL_KIND) return { objects: [], external: await asking(seeking, named.url ?? '', sources) };
  const object = refOf(named);
  const missing = observedObject(standIn, object, true);
  if (!mayBeIn(standIn, named.namespace)) return { objects: [missing], external: { sought, problem: OUTSIDE } };
  const live = await sources.strangers.read({ resource, object });
  if (live === undefined) return { objects: [missing], external: { sought, named } };
  const objects = [observedObject(standIn, live)];
  if (isOurs(live)) return { objects, external: { sought, problem: 'is of this operator: set the mode Managed' } };
  if (!standIn.matches(live, used)) {
    const { mismatch = `is not ${sought}` } = standIn;
    return { objects, external: { sought, named, problem: mismatch } };
  }
  if (standIn.probe !== undefined) {
    return { objects, external: await asking(seeking, standIn.probe.urlOf(live), sources) };
  }
  return { objects, external: { sought, named, problem: standIn.problem(live, used) } };
}

/** A server that is named need not measure most nodes: the condition MetricsAvailable of TrafficWatches names the other nodes. */
async function asking(
  { standIn: { sought, probe, placement }, named }: SeekingNamed,
  url: string,
  { probes }: Pick<Sources, 'probes'>,
): Promise<ObservedExternal> {
  if (probe === undefined) throw new Error(`${sought} has no URL`);
  const proof = await probes.proof({ ...probe, placement }, url);
  const problem = proof.is === 'Proven' || proof.is === 'Few' ? undefined : proof.lack;
  return { sought, named, problem, asked: { url, series: probe.series } };
}

/** A program on the nodes that no object shows. */
async function observeNodes(
  { standIn: { sought, listener }, named }: SeekingNamed,
  { listeners }: Pick<Sources, 'listeners'>,
): Promise<Found> {
  if (listener === undefined) throw new Error(`${sought} does not run on nodes`);
  const listening = await listeners.ask(listener);
  const { port, asked, answering } = listening;
  const problem =
    answering.length > 0 ? undefined : `no node-exporter answers on the port ${port} of a node: ${asked} were asked`;
  return { objects: [], external: { sought, named, listening, problem } };
}
