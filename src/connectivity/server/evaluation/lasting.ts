import type { Finding } from '../../../api/connectivitycheck/finding.ts';
import { localiseInSteps } from '../../localise/localise.ts';
import type { Steps } from '../../localise/steps.ts';
import type { ClusterView } from '../../localise/view.ts';
import { MOST_LASTING } from '../../protocol/evaluation.ts';

/**
 * The findings of the same measurements with the nodes whose kubelet is silent. A node that is cut off becomes
 * Unreachable by it, and its fault goes on.
 *
 * @returns undefined without such nodes: these findings are the same as those without them
 */
export function* lastingFindings(view: ClusterView): Steps<readonly Finding[] | undefined> {
  if (!view.nodes.some(({ excluded }) => excluded === 'Unreachable')) return undefined;
  const nodes = view.nodes.map(({ excluded, ...node }) =>
    excluded === undefined || excluded === 'Unreachable' ? node : { ...node, excluded },
  );
  const { findings } = yield* localiseInSteps({ ...view, nodes });
  return findings.slice(0, MOST_LASTING);
}
