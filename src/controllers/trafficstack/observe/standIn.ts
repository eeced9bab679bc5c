import type { ComponentMode, ComponentType } from '../../../api/trafficstack/terms.ts';
import type { UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import { APPLIED_HASH_ANNOTATION } from '../../../runtime/apply/appliedHash.ts';
import { apiVersionOf, keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { isMarked } from '../../../runtime/objectSet/owner.ts';
import type { StandIn, StandInProbe } from '../../contract/builtIn.ts';
import { OWNER } from '../../contract/labels.ts';
import type { DesiredObject } from '../render/objects.ts';
import type { ObservedComponent, ObservedObject } from './observation.ts';
import type { ServerProbes } from './serverProbes.ts';
import type { StrangerReader } from './strangers.ts';

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
  readonly strangers: Pick<StrangerReader, 'read' | 'list'>;
  readonly probes: Pick<ServerProbes, 'problem'>;
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
 * does not answer: a restart of it moves nothing.
 *
 * @throws ApiError, TransportError
 */
export async function observeStandIn(
  { standIn, ...seeking }: Seeking,
  { strangers, probes }: Sources,
): Promise<Found | undefined> {
  if (standIn === undefined) return undefined;
  const { probe } = standIn;
  return probe === undefined
    ? observeWorkload({ standIn, ...seeking }, strangers)
    : observeServer({ standIn, probe, ...seeking }, { strangers, probes });
}

async function observeWorkload(
  { standIn, mode, own, used }: Seeking & { readonly standIn: StandIn },
  strangers: Pick<StrangerReader, 'list'>,
): Promise<Found | undefined> {
  const all = await strangers.list(standIn.resource);
  const isOwn = ({ object }: DesiredObject): boolean => all.some((each) => keyOf(each) === keyOf(object));
  if (mode === 'Auto' && own !== undefined && isOwn(own)) return undefined;
  const { sought } = standIn;
  const problemOf = (live: KubeObject): string | undefined => standIn.problem(live, used);
  const candidates = matching(all, standIn, used);
  const found = candidates.find((live) => problemOf(live) === undefined) ?? candidates[0];
  if (found === undefined) return mode === 'External' ? { objects: [], external: { sought } } : undefined;
  return { objects: [observedObject(standIn, found)], external: { sought, problem: problemOf(found) } };
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
  const lists = await Promise.all(probe.selectors.map((selector) => strangers.list(standIn.resource, selector)));
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
