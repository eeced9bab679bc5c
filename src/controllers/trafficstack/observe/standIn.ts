import type { ComponentMode, ComponentType } from '../../../api/trafficstack/terms.ts';
import type { UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import { APPLIED_HASH_ANNOTATION } from '../../../runtime/apply/appliedHash.ts';
import { apiVersionOf, keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { isMarked } from '../../../runtime/objectSet/owner.ts';
import type { StandIn, StandInProbe } from '../../contract/builtIn.ts';
import { NODES, PODS } from '../../../runtime/client/resources.ts';
import { OWNER } from '../../contract/labels.ts';
import type { DesiredObject } from '../render/objects.ts';
import type { ObservedComponent, ObservedObject } from './observation.ts';
import type { NodeListeners } from './listening/nodeListeners.ts';
import type { ServerProbes } from './serverProbes.ts';
import type { Look } from './strangers/strangers.ts';

/** A built-in component whose own workload is in no cache. */
interface Seeking {
  /** Undefined: the component is what the stack makes. */
  readonly standIn: StandIn | undefined;
  readonly mode: ComponentMode | undefined;
  /** The workload that the stack would make; undefined if it makes none. */
  readonly own: DesiredObject | undefined;
  /** What it has used until now, as the status says. */
  readonly before: UsedObject | undefined;
  /** The types of which the stack uses what somebody else has made, as found before this component. */
  readonly used: ReadonlySet<ComponentType>;
}

/** Where it is looked for. */
interface Sources {
  readonly strangers: Pick<Look, 'read' | 'list'>;
  readonly probes: Pick<ServerProbes, 'problem'>;
  readonly listeners: Pick<NodeListeners, 'ask'>;
}

type Found = Pick<ObservedComponent, 'objects' | 'external'>;

/** Candidates that are asked in one reconcile: each may take seconds. */
const MOST_ASKED = 3;

/**
 * What a built-in component uses in place of objects of its own. Undefined if it has its own:
 *
 * | mode     | its own workload       | one of somebody else | used  |
 * |----------|------------------------|----------------------|-------|
 * | External | any                    | exists               | that  |
 * | External | any                    | is missing           | none: the component waits |
 * | Auto     | exists, also as the flags have made it | any  | its own |
 * | Auto     | is missing             | exists               | that  |
 * | Auto     | is missing             | is missing           | its own, which is made |
 *
 * A server is used with Auto only after it has answered the probe. One that was used until now is used for as long as it exists, also while it
 * does not answer: a restart of it moves nothing. The same holds for programs on the nodes that no object shows: with Auto, they are used
 * if most nodes that are asked have one.
 *
 * @throws ApiError, TransportError
 */
export async function observeStandIn({ standIn, ...seeking }: Seeking, sources: Sources): Promise<Found | undefined> {
  if (standIn === undefined) return undefined;
  const { probe } = standIn;
  return probe === undefined
    ? observeWorkload({ standIn, ...seeking }, sources)
    : observeServer({ standIn, probe, ...seeking }, sources);
}

async function observeWorkload(
  seeking: Seeking & { readonly standIn: StandIn },
  { strangers, listeners }: Pick<Sources, 'strangers' | 'listeners'>,
): Promise<Found | undefined> {
  const { standIn, mode, own, used } = seeking;
  const isOwn = (live: KubeObject): boolean =>
    mode === 'Auto' && own !== undefined && keyOf(live) === keyOf(own.object);
  const { resource, mayMatch: mayConcern } = standIn;
  const concerns = (live: KubeObject): boolean => isOwn(live) || standIn.matches(live, used);
  const all = await strangers.list({ resource, concerns, mayConcern });
  if (all.some(isOwn)) return undefined;
  const { sought } = standIn;
  const problemOf = (live: KubeObject): string | undefined => standIn.problem(live, used);
  const candidates = matching(all, standIn, used);
  const found = candidates.find((live) => problemOf(live) === undefined) ?? candidates[0];
  if (found !== undefined) {
    return { objects: [observedObject(standIn, found)], external: { sought, problem: problemOf(found) } };
  }
  const listening = await observeListener(seeking, { strangers, listeners });
  if (listening !== undefined) return listening;
  return mode === 'External' ? { objects: [], external: { sought } } : undefined;
}

/** What no object shows. Undefined if nothing listens, or it may be the operator's own. */
async function observeListener(
  { standIn: { listener, sought }, mode, before }: Seeking & { readonly standIn: StandIn },
  { strangers, listeners }: Pick<Sources, 'strangers' | 'listeners'>,
): Promise<Found | undefined> {
  if (listener === undefined) return undefined;
  const listening = await listeners.ask(listener);
  const { port, asked, answering } = listening;
  if (before?.kind === NODES.kind) {
    const problem = answering.length > 0 ? undefined : nothingListens(port, asked);
    return { objects: [], external: { sought, listening, problem } };
  }
  const isEnough = mode === 'Auto' ? answering.length > asked / 2 : answering.length > 0;
  // Pods that the operator has just deleted listen until they have ended.
  if (!isEnough) return undefined;
  const own = await strangers.list({ resource: PODS, labelSelector: listener.ownPods, concerns: () => true });
  if (own.length > 0) return undefined;
  return { objects: [], external: { sought, listening } };
}

function nothingListens(port: number, asked: number): string {
  return `no node-exporter answers on the port ${port} of a node any more: ${asked} were asked`;
}

type SeekingServer = Seeking & { readonly standIn: StandIn; readonly probe: StandInProbe };

async function observeServer(seeking: SeekingServer, { strangers, probes }: Sources): Promise<Found | undefined> {
  const { standIn, mode, own, probe } = seeking;
  const isMine = mode === 'Auto' && own !== undefined && (await strangers.read(own)) !== undefined;
  if (isMine) return undefined;
  const candidates = await candidatesOf(seeking, strangers);
  // At once, since one that does not answer takes seconds.
  const problems = await Promise.all(candidates.map((live) => probes.problem(probe, probe.urlOf(live))));
  const asked = candidates.map((live, index) => [live, problems[index]] as const);
  const [live, problem] = asked.find(([, why]) => why === undefined) ?? asked[0] ?? [];
  const { sought } = standIn;
  const isUsedBefore =
    live !== undefined && seeking.before !== undefined && keyOf(live) === keyOf(refOf(seeking.before));
  if (mode === 'Auto' && problem !== undefined && !isUsedBefore) return undefined;
  if (live === undefined) return mode === 'External' ? { objects: [], external: { sought } } : undefined;
  const external = { sought, problem, asked: { url: probe.urlOf(live), series: probe.series } };
  return { objects: [observedObject(standIn, live)], external };
}

/** What was used before, if it is still there; else all that may be used. */
async function candidatesOf(
  { standIn, probe, before, used }: SeekingServer,
  strangers: Sources['strangers'],
): Promise<readonly KubeObject[]> {
  if (before !== undefined) {
    const live = await strangers.read({ resource: standIn.resource, object: refOf(before) });
    const kept = matching(live === undefined ? [] : [live], standIn, used);
    if (kept.length > 0) return kept;
  }
  const { resource } = standIn;
  const concerns = (live: KubeObject): boolean => standIn.matches(live, used);
  const lists = await Promise.all(
    probe.selectors.map((labelSelector) => strangers.list({ resource, labelSelector, concerns })),
  );
  return matching(lists.flat(), standIn, used).slice(0, MOST_ASKED);
}

function refOf({ namespace, name }: UsedObject): KubeObject {
  return { metadata: { namespace, name } };
}

/** By namespace and name, so that their order does not matter. */
function matching(all: readonly KubeObject[], standIn: StandIn, used: Seeking['used']): KubeObject[] {
  return all
    .filter((live) => isOfOthers(live) && standIn.matches(live, used))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Whether neither a stack nor another controller of this operator has made it. One that is being deleted is gone soon. */
function isOfOthers(live: KubeObject): boolean {
  const { annotations, deletionTimestamp } = live.metadata ?? {};
  const isOurs = isMarked(live, OWNER.labels) || annotations?.[APPLIED_HASH_ANNOTATION] !== undefined;
  return !isOurs && deletionTimestamp === undefined;
}

function observedObject({ resource }: StandIn, live: KubeObject): ObservedObject {
  const { namespace = '', name = '' } = live.metadata ?? {};
  const typed = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  return {
    resource,
    object: { ...typed, metadata: { namespace, name } },
    // It is not applied.
    hash: '',
    isCurrent: false,
    live: { ...typed, ...live },
  };
}
