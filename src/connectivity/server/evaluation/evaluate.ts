import type { CheckSettings } from '../../assign/checkSettings.ts';
import { localiseInSteps, type Localisation } from '../../localise/localise.ts';
import type { Steps } from '../../localise/steps.ts';
import { checkedNodes, type AgentView, type ClusterView } from '../../localise/view.ts';
import {
  MOST_EXCLUDED,
  MOST_FINDINGS,
  MOST_LASTING,
  MOST_UNOBSERVED,
  type Evaluation,
  type EvaluationCounts,
  type RefusedUrls,
} from '../../protocol/evaluation.ts';
import type { RefusedUrl } from '../../protocol/measurement.ts';
import { isPerfect } from '../reports/measurements.ts';
import { graceMs } from '../view/agentState.ts';
import { clusterView, type ViewInput } from '../view/clusterView.ts';

/**
 * Evaluates one check, with what is known of the agents when their steps come. Undefined if that is too early.
 *
 * @param hadFindings the evaluation before had findings, which the status of the check may not have yet
 */
export function* evaluateCheck(
  input: ViewInput,
  check: CheckSettings,
  hadFindings: boolean,
): Steps<Evaluation | undefined> {
  const view = yield* clusterView(input, check);
  if (isEarly(input, view, check.intervalMs)) return undefined;
  const localisation = yield* localiseInSteps(view);
  const excluded = view.nodes.flatMap(({ name, excluded: reason }) => (reason ? [{ node: name, reason }] : []));
  excluded.sort((a, b) => (a.node < b.node ? -1 : 1));
  const { findings } = localisation;
  // It shows only which findings last, so a node that is drained or down costs nothing while there are none.
  const whole = check.hasFindings || hadFindings ? yield* wholeLocalisation(view) : undefined;
  const { unobserved: places, unasked, unconfirmed, unmeasured: silent } = whole ?? localisation;
  // `unmeasured` says so of a whole plane.
  const unobserved = places.filter(
    ({ plane }) => !silent.some((part) => part.plane === plane && part.of === undefined),
  );
  const { unmeasured } = localisation;
  const lasting = [...(whole?.findings ?? []), ...unconfirmed];
  const refused = refusedUrls(check.urls, refusedBy(input, view));
  return {
    generation: check.generation,
    findings: findings.slice(0, MOST_FINDINGS),
    omittedFindings: Math.max(0, findings.length - MOST_FINDINGS),
    ...(lasting.length > 0 && { lasting: lasting.slice(0, MOST_LASTING) }),
    ...(whole !== undefined && { lastingPairs: whole.observedPairs }),
    ...(unobserved.length > 0 && { unobserved: unobserved.slice(0, MOST_UNOBSERVED) }),
    ...(unasked.length > 0 && { unasked: unasked.slice(0, MOST_UNOBSERVED) }),
    ...(unmeasured.length > 0 && { unmeasured }),
    counts: {
      ...countsOf(view, localisation, ({ pod }) => input.reportOf(pod)?.authenticated === true),
      ...(places.length > 0 && { unobservedNetworks: places.length }),
    },
    ...(refused.length > 0 && { refused }),
    excluded: excluded.slice(0, MOST_EXCLUDED),
  };
}

/** The refusals of each agent of the check. A report about another node does not count. */
function refusedBy({ reportOf }: ViewInput, { agents }: ClusterView): (readonly RefusedUrl[] | undefined)[] {
  return agents.map(({ pod, node, state }) => {
    const report = state === 'Reporting' ? reportOf(pod) : undefined;
    return report?.node === node ? report.measurement?.refused : undefined;
  });
}

/**
 * Whether the server has just started, and a running agent has not had the time to report to it. A restart mends no
 * network, so nothing must be taken from the findings of the time before.
 */
function isEarly({ upMs, roster }: ViewInput, view: ClusterView, intervalMs: number): boolean {
  if (upMs >= graceMs(intervalMs)) return false;
  const checked = checkedNodes(view);
  return view.agents.some(
    ({ state, node, plane }) =>
      state === 'Starting' && checked.has(node) && roster.agentOf(node, plane)?.phase === 'Running',
  );
}

/**
 * Counts what one check sees.
 *
 * | agent | on a node that is checked | on a node that is left out |
 * |---|---|---|
 * | Reporting | counts | counts: all nodes of a new cluster are joining, and their agents do report |
 * | Silent, Broken | counts | does not: a node that is down or comes up would look like missing agents |
 * | else | does not | does not |
 *
 * @param isAuthenticated whether the report of an agent was
 */
export function countsOf(
  { nodes, agents }: Pick<ClusterView, 'nodes' | 'agents'>,
  { observedPairs, affectedPairs }: Pick<Localisation, 'observedPairs' | 'affectedPairs'>,
  isAuthenticated: (agent: AgentView) => boolean,
): EvaluationCounts {
  const checked = checkedNodes({ nodes });
  const reporting = agents.filter(({ state }) => state === 'Reporting');
  const missing = agents.filter(({ node, state }) => checked.has(node) && (state === 'Silent' || state === 'Broken'));
  return {
    nodes: nodes.length,
    excludedNodes: nodes.length - checked.size,
    agents: reporting.length + missing.length,
    reportingAgents: reporting.length,
    anonymousAgents: reporting.filter((agent) => !isAuthenticated(agent)).length,
    observedPairs,
    affectedPairs,
  };
}

/**
 * Localises the faults of the same measurements with the nodes that are left out. A node may be left out because of its
 * fault, or although it has one: what it and others report of it still shows whether the fault continues.
 *
 * @returns undefined if all of these nodes work: the findings would be the same
 */
export function* wholeLocalisation(view: ClusterView): Steps<Localisation | undefined> {
  const leftOut = new Set(view.nodes.flatMap(({ name, excluded }) => (excluded === undefined ? [] : [name])));
  if (leftOut.size === 0 || (yield* allWork(leftOut, view))) return undefined;
  const nodes = view.nodes.map(({ name, zone }) => ({ name, ...(zone !== undefined && { zone }) }));
  return yield* localiseInSteps({ ...view, nodes });
}

/** Whether all agents of these nodes report, and no result from or towards these nodes has a flaw. */
function* allWork(nodes: ReadonlySet<string>, { agents }: ClusterView): Steps<boolean> {
  for (const { node, state, peers, targets } of agents) {
    yield;
    const isOne = nodes.has(node);
    if (isOne && (state !== 'Reporting' || peers.length === 0 || targets.some(({ ok }) => !ok))) return false;
    if (peers.some((peer) => (isOne || nodes.has(peer.node)) && !isPerfect(peer))) return false;
  }
  return true;
}

/**
 * Returns the URLs of a check that agents refuse, in the order of the check. If agents refuse different addresses of a URL,
 * the address of the first agent counts. URLs that the check does not have are left out: they belong to other checks, or a
 * report without a token made them up.
 *
 * @param urls of the check
 * @param agents what each agent with a current report refused
 */
function refusedUrls(
  urls: readonly string[],
  agents: readonly (readonly RefusedUrl[] | undefined)[],
): readonly RefusedUrls[] {
  const byUrl = new Map<string, RefusedUrls>();
  for (const refused of agents) {
    for (const { url, address, reason } of new Map((refused ?? []).map((each) => [each.url, each])).values()) {
      const known = byUrl.get(url);
      byUrl.set(
        url,
        known === undefined ? { url, address, reason, agents: 1 } : { ...known, agents: known.agents + 1 },
      );
    }
  }
  return urls.flatMap((url) => byUrl.get(url) ?? []);
}
