import type { CheckSettings } from '../../assign/checkSettings.ts';
import { localiseInSteps } from '../../localise/localise.ts';
import type { Steps } from '../../localise/steps.ts';
import { MOST_EXCLUDED, MOST_FINDINGS, type Evaluation } from '../../protocol/evaluation.ts';
import type { RefusedUrl } from '../../protocol/measurement.ts';
import { checkedNodes, type ClusterView } from '../../localise/view.ts';
import { graceMs } from '../view/agentState.ts';
import { clusterView, type ViewInput } from '../view/clusterView.ts';
import { countsOf } from './counts.ts';
import { lastingFindings } from './lasting.ts';
import { refusedUrls } from './refusedUrls.ts';

/** Evaluates one check, with what is known of the agents when their steps come. Undefined if that is too early. */
export function* evaluateCheck(input: ViewInput, check: CheckSettings): Steps<Evaluation | undefined> {
  const view = yield* clusterView(input, check);
  if (isEarly(input, view, check.intervalMs)) return undefined;
  const localisation = yield* localiseInSteps(view);
  const excluded = view.nodes.flatMap(({ name, excluded: reason }) => (reason ? [{ node: name, reason }] : []));
  excluded.sort((a, b) => (a.node < b.node ? -1 : 1));
  const { findings } = localisation;
  const lasting = yield* lastingFindings(view);
  const refused = refusedUrls(check.urls, refusedBy(input, view));
  return {
    generation: check.generation,
    findings: findings.slice(0, MOST_FINDINGS),
    omittedFindings: Math.max(0, findings.length - MOST_FINDINGS),
    ...(lasting !== undefined && { lasting }),
    counts: countsOf(view, localisation, ({ pod }) => input.reportOf(pod)?.authenticated === true),
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
