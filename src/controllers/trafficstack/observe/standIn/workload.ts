import { keyOf, type KubeObject } from '../../../../runtime/client/resource.ts';
import { PODS } from '../../../../runtime/client/resources.ts';
import { isMost, type Proof, type StandIn } from '../../../contract/builtIn.ts';
import { choose, chooseExternal, type Candidate } from '../../model/choice.ts';
import {
  awaiting,
  isLimited,
  matching,
  observedObject,
  ownInsteadOf,
  refused,
  type Found,
  type SeekingStandIn,
  type Sources,
} from './found.ts';

/**
 * Searches the workload of another owner that a component uses, or what runs on the nodes without one: see observeStandIn.
 *
 * @throws ApiError, TransportError
 */
export async function observeWorkload(seeking: SeekingStandIn, sources: Sources): Promise<Found | undefined> {
  const { standIn, mode, own, used, isOver, now } = seeking;
  const isOwn = (live: KubeObject): boolean =>
    mode === 'Auto' && own !== undefined && keyOf(live) === keyOf(own.object);
  const { resource, mayMatch: mayConcern } = standIn;
  const concerns = (live: KubeObject): boolean => isOwn(live) || standIn.matches(live, used);
  const all = await sources.strangers.list({ resource, concerns, mayConcern });
  if (all.some(isOwn)) return undefined;
  const cluster = { nodes: sources.measurable(standIn.placement), now };
  const proofOf = (live: KubeObject): Proof => standIn.proof?.(live, cluster) ?? { is: 'Proven' };
  const { inside, outside } = matching(all, standIn, used);
  const candidates = inside.map((live) => ({ live, proof: proofOf(live), problem: standIn.problem(live, used) }));
  const best = chooseExternal(candidates);
  // No object tells the namespace of what listens on the nodes. With the mode External, the spec asks for it all the same.
  const isTaken = mode === 'Auto' ? isLimited(standIn) : outside.some((live) => runsOnMost(proofOf(live)));
  const askNodes = (): Promise<ListeningOnMost | undefined> =>
    isTaken ? Promise.resolve(undefined) : observeListener(seeking, sources);
  if (mode !== 'Auto') {
    const listening = best?.proof.is === 'Proven' ? undefined : await askNodes();
    if (listening !== undefined && (best === undefined || listening.isOnMost)) return listening.found;
    return best === undefined ? { objects: [], external: { sought: standIn.sought } } : using(standIn, best);
  }
  const choice = choose([...candidates, ...refused(outside)], isOver);
  if (choice.do === 'use') return using(standIn, choice.candidate);
  const listening = await askNodes();
  if (listening !== undefined) return listening.found;
  return choice.do === 'await' ? awaiting(seeking, choice.candidate) : ownInsteadOf(standIn, choice.unproven);
}

function runsOnMost({ is }: Proof): boolean {
  return is === 'Proven' || is === 'Starting';
}

function using(standIn: StandIn, { live, problem }: Candidate<KubeObject>): Found {
  return { objects: [observedObject(standIn, live)], external: { sought: standIn.sought, problem } };
}

interface ListeningOnMost {
  readonly found: Found;
  readonly isOnMost: boolean;
}

/** What no object shows. Undefined if nothing listens, or it may be the operator's own. */
async function observeListener(
  { standIn: { listener, sought }, mode }: SeekingStandIn,
  { strangers, listeners }: Pick<Sources, 'strangers' | 'listeners'>,
): Promise<ListeningOnMost | undefined> {
  if (listener === undefined) return undefined;
  const listening = await listeners.ask(listener);
  const { asked, answering } = listening;
  const isOnMost = isMost(answering.length, asked);
  const isEnough = mode === 'Auto' ? isOnMost : answering.length > 0;
  // Pods that the operator has just deleted listen until they have ended.
  if (!isEnough) return undefined;
  const own = await strangers.list({ resource: PODS, labelSelector: listener.ownPods, concerns: () => true });
  if (own.length > 0) return undefined;
  return { isOnMost, found: { objects: [], external: { sought, listening } } };
}
