import { keyOf, type KubeObject } from '../../../../runtime/client/resource.ts';
import type { StandIn, StandInProbe } from '../../../contract/builtIn.ts';
import { choose, chooseExternal, type Candidate } from '../../model/choice.ts';
import type { ObservedExternal } from '../observation.ts';
import {
  awaiting,
  matching,
  observedObject,
  ownInsteadOf,
  refused,
  type Found,
  type Seeking,
  type Sources,
} from './found.ts';

type SeekingServer = Seeking & { readonly standIn: StandIn & { readonly probe: StandInProbe } };

/** Candidates that are asked in one reconcile: each may take seconds. */
const MOST_ASKED = 10;

/**
 * Searches the Prometheus of another owner that a component uses: see observeStandIn. That it measures the nodes, only its answer shows.
 *
 * @throws ApiError, TransportError
 */
export async function observeServer(
  seeking: SeekingServer,
  { strangers, probes }: Pick<Sources, 'strangers' | 'probes'>,
): Promise<Found | undefined> {
  const { standIn, mode, own, isOver } = seeking;
  const { probe } = standIn;
  const isMine = mode === 'Auto' && own !== undefined && (await strangers.read(own)) !== undefined;
  if (isMine) return undefined;
  const { inside, outside } = await seek(seeking, strangers);
  // At once, since one that does not answer takes seconds.
  const question = { ...probe, placement: standIn.placement };
  const candidates = await Promise.all(
    inside.map(async (live) => ({ live, proof: await probes.proof(question, probe.urlOf(live)) })),
  );
  const using = ({ live, proof }: Candidate<KubeObject>): Found => {
    // With the mode External, it need not measure most nodes.
    const problem = proof.is === 'Proven' || proof.is === 'Few' ? undefined : proof.lack;
    const asked = { url: probe.urlOf(live), series: probe.series };
    const external: ObservedExternal = { sought: standIn.sought, problem, asked };
    return { objects: [observedObject(standIn, live)], external };
  };
  if (mode !== 'Auto') {
    const best = chooseExternal(candidates);
    return best === undefined ? { objects: [], external: { sought: standIn.sought } } : using(best);
  }
  const choice = choose([...candidates, ...refused(outside)], isOver);
  if (choice.do === 'use') return using(choice.candidate);
  return choice.do === 'await' ? awaiting(seeking, choice.candidate) : ownInsteadOf(standIn, choice.unproven);
}

/** All that may be used. */
async function seek({ standIn, used }: SeekingServer, strangers: Sources['strangers']) {
  const { resource, probe } = standIn;
  const concerns = (live: KubeObject): boolean => standIn.matches(live, used);
  const lists = await Promise.all(
    probe.selectors.map((labelSelector) => strangers.list({ resource, labelSelector, concerns })),
  );
  // A Service may have the labels of both.
  const all = new Map(lists.flat().map((live) => [keyOf(live), live]));
  const { inside, outside } = matching([...all.values()], standIn, used);
  return { inside: takingTurns(inside).slice(0, MOST_ASKED), outside };
}

/** The first of each namespace, then the second of each, and so on: so the Services of one namespace do not keep others from being asked. */
function takingTurns(sorted: readonly KubeObject[]): KubeObject[] {
  const byNamespace = Map.groupBy(sorted, ({ metadata }) => metadata?.namespace);
  const turns = [...byNamespace.values()].flatMap((all) => all.map((live, turn) => ({ live, turn })));
  return turns.sort((a, b) => a.turn - b.turn).map(({ live }) => live);
}
