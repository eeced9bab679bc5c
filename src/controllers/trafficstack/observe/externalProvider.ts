import type { UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import { keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { NODES, PODS } from '../../../runtime/client/resources.ts';
import { isMost, type Proof, type ExternalProvider, type ProviderProbe } from '../../contract/builtIn.ts';
import { URL_KIND, choose, chooseExternal, type Candidate } from '../model/external.ts';
import type { ObservedExternal } from '../model/observation.ts';
import {
  isLimited,
  isOurs,
  mayBeIn,
  observedObject,
  OUTSIDE,
  refOf,
  type Found,
  type Seeking,
  type SeekingProvider,
  type Sources,
  awaiting,
  matching,
  ownInsteadOf,
  refused,
} from './externalCandidates.ts';

/**
 * Returns the external object that a built-in component uses. Undefined if it has its own:
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
 * The tables in model/external.ts decide which object is named and which one a search uses. A server must answer a probe. Programs on the nodes that
 * no object shows are used with Auto if most queried nodes have one.
 *
 * @throws ApiError, TransportError
 */
export async function observeExternalProvider(
  { externalProvider, ...rest }: Seeking,
  sources: Sources,
): Promise<Found | undefined> {
  if (externalProvider === undefined) return undefined;
  const seeking = { ...rest, externalProvider };
  const named = stillNamed(seeking);
  if (named !== undefined) return observeNamed({ ...seeking, named }, sources);
  const { probe } = externalProvider;
  return probe === undefined
    ? observeWorkload(seeking, sources)
    : observeServer({ ...seeking, externalProvider: { ...externalProvider, probe } }, sources);
}

/** Ignores a found object when the flags exclude its namespace: the operator searches again. */
function stillNamed({ named, externalProvider, mode }: SeekingProvider): SeekingProvider['named'] {
  if (named === undefined || named.fromSpec === true) return named;
  const isHidden = named.kind === NODES.kind && mode === 'Auto' && isLimited(externalProvider);
  return !isHidden && mayBeIn(externalProvider, named.namespace) ? named : undefined;
}

type SeekingNamed = SeekingProvider & { readonly named: UsedObject };

/**
 * Reads only the object that the spec or the status names.
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
  const { externalProvider, named, used } = seeking;
  const { resource, sought } = externalProvider;
  if (named.kind === NODES.kind) return observeNodes(seeking, sources);
  if (named.kind === URL_KIND) return { objects: [], external: await asking(seeking, named.url ?? '', sources) };
  const object = refOf(named);
  const missing = observedObject(externalProvider, object, true);
  if (!mayBeIn(externalProvider, named.namespace))
    return { objects: [missing], external: { sought, problem: OUTSIDE } };
  const live = await sources.foreignObjects.read({ resource, object });
  if (live === undefined) return { objects: [missing], external: { sought, named } };
  const objects = [observedObject(externalProvider, live)];
  if (isOurs(live)) return { objects, external: { sought, problem: 'is of this operator: set the mode Managed' } };
  if (!externalProvider.matches(live, used)) {
    const { mismatch = `is not ${sought}` } = externalProvider;
    return { objects, external: { sought, named, problem: mismatch } };
  }
  if (externalProvider.probe !== undefined) {
    return { objects, external: await asking(seeking, externalProvider.probe.urlOf(live), sources) };
  }
  return { objects, external: { sought, named, problem: externalProvider.problem(live, used) } };
}

/** Queries a named server. It need not measure most nodes: the condition MetricsAvailable of TrafficWatches names the others. */
async function asking(
  { externalProvider: { sought, probe, placement }, named }: SeekingNamed,
  url: string,
  { probes }: Pick<Sources, 'probes'>,
): Promise<ObservedExternal> {
  if (probe === undefined) throw new Error(`${sought} has no URL`);
  const proof = await probes.proof({ ...probe, placement }, url);
  const problem = proof.is === 'Proven' || proof.is === 'Few' ? undefined : proof.lack;
  return { sought, named, problem, server: { url, series: probe.series } };
}

/** Returns the nodes with a program that no object shows. */
async function observeNodes(
  { externalProvider: { sought, listener }, named }: SeekingNamed,
  { listeners }: Pick<Sources, 'listeners'>,
): Promise<Found> {
  if (listener === undefined) throw new Error(`${sought} does not run on nodes`);
  const listening = await listeners.ask(listener);
  const { port, queried, answering } = listening;
  const problem =
    answering.length > 0 ? undefined : `no node-exporter answers on the port ${port} of a node: ${queried} were asked`;
  return { objects: [], external: { sought, named, listening, problem } };
}

/**
 * Searches the workload of another owner that a component uses, or a program on the nodes: see observeExternalProvider.
 *
 * @throws ApiError, TransportError
 */
async function observeWorkload(seeking: SeekingProvider, sources: Sources): Promise<Found | undefined> {
  const { externalProvider, mode, own, used, isOver, now } = seeking;
  const isOwn = (live: KubeObject): boolean =>
    mode === 'Auto' && own !== undefined && keyOf(live) === keyOf(own.object);
  const { resource, mayMatch: mayConcern } = externalProvider;
  const concerns = (live: KubeObject): boolean => isOwn(live) || externalProvider.matches(live, used);
  const all = await sources.foreignObjects.list({ resource, concerns, mayConcern });
  if (all.some(isOwn)) return undefined;
  const cluster = { nodes: sources.measurable(externalProvider.placement), now };
  const proofOf = (live: KubeObject): Proof => externalProvider.proof?.(live, cluster) ?? { is: 'Proven' };
  const { inside, outside } = matching(all, externalProvider, used);
  const candidates = inside.map((live) => ({
    live,
    proof: proofOf(live),
    problem: externalProvider.problem(live, used),
  }));
  const best = chooseExternal(candidates);
  // No object tells the namespace of what listens on the nodes. With the mode External, the spec asks for it all the same.
  const isTaken = mode === 'Auto' ? isLimited(externalProvider) : outside.some((live) => runsOnMost(proofOf(live)));
  const askNodes = (): Promise<ListeningOnMost | undefined> =>
    isTaken ? Promise.resolve(undefined) : observeListener(seeking, sources);
  if (mode !== 'Auto') {
    const listening = best?.proof.is === 'Proven' ? undefined : await askNodes();
    if (listening !== undefined && (best === undefined || listening.isOnMost)) return listening.found;
    return best === undefined
      ? { objects: [], external: { sought: externalProvider.sought } }
      : using(externalProvider, best);
  }
  const choice = choose([...candidates, ...refused(outside)], isOver);
  if (choice.do === 'use') return using(externalProvider, choice.candidate);
  const listening = await askNodes();
  if (listening !== undefined) return listening.found;
  return choice.do === 'await' ? awaiting(seeking, choice.candidate) : ownInsteadOf(externalProvider, choice.unproven);
}

function runsOnMost({ is }: Proof): boolean {
  return is === 'Proven' || is === 'Starting';
}

function using(externalProvider: ExternalProvider, { live, problem }: Candidate<KubeObject>): Found {
  return { objects: [observedObject(externalProvider, live)], external: { sought: externalProvider.sought, problem } };
}

interface ListeningOnMost {
  readonly found: Found;
  readonly isOnMost: boolean;
}

/** Returns the nodes with a program that no object shows. Undefined if there are none, or if the operator's own pods may listen there. */
async function observeListener(
  { externalProvider: { listener, sought }, mode }: SeekingProvider,
  { foreignObjects, listeners }: Pick<Sources, 'foreignObjects' | 'listeners'>,
): Promise<ListeningOnMost | undefined> {
  if (listener === undefined) return undefined;
  const listening = await listeners.ask(listener);
  const { queried, answering } = listening;
  const isOnMost = isMost(answering.length, queried);
  const isEnough = mode === 'Auto' ? isOnMost : answering.length > 0;
  // Pods that the operator has just deleted listen until they have ended.
  if (!isEnough) return undefined;
  const own = await foreignObjects.list({ resource: PODS, labelSelector: listener.ownPods, concerns: () => true });
  if (own.length > 0) return undefined;
  return { isOnMost, found: { objects: [], external: { sought, listening } } };
}

type SeekingServer = Seeking & { readonly externalProvider: ExternalProvider & { readonly probe: ProviderProbe } };

/** Servers queried in one reconcile: each may take seconds. */
const MOST_ASKED = 10;

/**
 * Searches the Prometheus of another owner that a component uses: see observeExternalProvider. Only its answer shows whether it measures the nodes.
 *
 * @throws ApiError, TransportError
 */
async function observeServer(
  seeking: SeekingServer,
  { foreignObjects, probes }: Pick<Sources, 'foreignObjects' | 'probes'>,
): Promise<Found | undefined> {
  const { externalProvider, mode, own, isOver } = seeking;
  const { probe } = externalProvider;
  const isMine = mode === 'Auto' && own !== undefined && (await foreignObjects.read(own)) !== undefined;
  if (isMine) return undefined;
  const { inside, outside } = await seek(seeking, foreignObjects);
  // At once, since one that does not answer takes seconds.
  const eventQuery = { ...probe, placement: externalProvider.placement };
  const candidates = await Promise.all(
    inside.map(async (live) => ({ live, proof: await probes.proof(eventQuery, probe.urlOf(live)) })),
  );
  const usingServer = ({ live, proof }: Candidate<KubeObject>): Found => {
    // With the mode External, it need not measure most nodes.
    const problem = proof.is === 'Proven' || proof.is === 'Few' ? undefined : proof.lack;
    const server = { url: probe.urlOf(live), series: probe.series };
    const external: ObservedExternal = { sought: externalProvider.sought, problem, server };
    return { objects: [observedObject(externalProvider, live)], external };
  };
  if (mode !== 'Auto') {
    const best = chooseExternal(candidates);
    return best === undefined ? { objects: [], external: { sought: externalProvider.sought } } : usingServer(best);
  }
  const choice = choose([...candidates, ...refused(outside)], isOver);
  if (choice.do === 'use') return usingServer(choice.candidate);
  return choice.do === 'await' ? awaiting(seeking, choice.candidate) : ownInsteadOf(externalProvider, choice.unproven);
}

/** Lists the usable servers. */
async function seek({ externalProvider, used }: SeekingServer, foreignObjects: Sources['foreignObjects']) {
  const { resource, probe } = externalProvider;
  const concerns = (live: KubeObject): boolean => externalProvider.matches(live, used);
  const lists = await Promise.all(
    probe.selectors.map((labelSelector) => foreignObjects.list({ resource, labelSelector, concerns })),
  );
  // A Service may have the labels of both.
  const all = new Map(lists.flat().map((live) => [keyOf(live), live]));
  const { inside, outside } = matching([...all.values()], externalProvider, used);
  return { inside: takingTurns(inside).slice(0, MOST_ASKED), outside };
}

/** Sorts by turns: the first of each namespace, then the second, and so on. One namespace cannot block the others. */
function takingTurns(sorted: readonly KubeObject[]): KubeObject[] {
  const byNamespace = Map.groupBy(sorted, ({ metadata }) => metadata?.namespace);
  const turns = [...byNamespace.values()].flatMap((all) => all.map((live, turn) => ({ live, turn })));
  return turns.sort((a, b) => a.turn - b.turn).map(({ live }) => live);
}
