import type { CheckSettings } from '../../assign/checkSettings.ts';
import { localise } from '../../localise/localise.ts';
import { MOST_EXCLUDED, MOST_FINDINGS, type Evaluation } from '../../protocol/evaluation.ts';
import { clusterView, type ViewInput } from '../view/clusterView.ts';
import { countsOf } from './counts.ts';
import { lastingFindings } from './lasting.ts';

/** Evaluates one check. */
export function evaluateCheck(input: ViewInput, check: CheckSettings): Evaluation {
  const view = clusterView(input, check);
  const localisation = localise(view);
  const excluded = view.nodes.flatMap(({ name, excluded: reason }) => (reason ? [{ node: name, reason }] : []));
  excluded.sort((a, b) => (a.node < b.node ? -1 : 1));
  const { findings } = localisation;
  const lasting = lastingFindings(view);
  return {
    generation: check.generation,
    findings: findings.slice(0, MOST_FINDINGS),
    omittedFindings: Math.max(0, findings.length - MOST_FINDINGS),
    ...(lasting !== undefined && { lasting }),
    counts: countsOf(view, localisation, ({ pod }) => input.reportOf(pod)?.authenticated === true),
    excluded: excluded.slice(0, MOST_EXCLUDED),
  };
}
