import type { Finding } from '../../../api/connectivitycheck/finding.ts';
import { localiseInSteps } from '../../localise/localise.ts';
import type { Steps } from '../../localise/steps.ts';
import type { ClusterView } from '../../localise/view.ts';
import { MOST_LASTING } from '../../protocol/evaluation.ts';

/**
 * Returns the findings of the same measurements if nodes with a silent kubelet also count. Kubernetes sets a node that is
 * cut off to Unreachable, but its fault continues.
 *
 * @returns undefined without such nodes: the findings would be the same
 */
export function* lastingFindings(view: ClusterView): Steps<readonly Finding[] | undefined> {
  if (!view.nodes.some(({ excluded }) => excluded === 'Unreachable')) return undefined;
  const nodes = view.nodes.map(({ excluded, ...node }) =>
    excluded === undefined || excluded === 'Unreachable' ? node : { ...node, excluded },
  );
  const { findings } = yield* localiseInSteps({ ...view, nodes });
  return findings.slice(0, MOST_LASTING);
}
