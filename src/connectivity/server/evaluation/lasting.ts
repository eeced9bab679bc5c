import type { Finding } from '../../../api/connectivitycheck/finding.ts';
import { localise } from '../../localise/localise.ts';
import { lostOf } from '../../localise/pairs/quality.ts';
import type { ClusterView } from '../../localise/view.ts';
import { MOST_LASTING } from '../../protocol/evaluation.ts';

/** A finding that is there stays down to this share of the threshold, so that loss close to it does not flap. */
const SHARE_OF_THRESHOLD = 0.5;

/**
 * The findings of the same measurements by what is enough for a finding to stay (see `Evaluation.lasting`).
 *
 * | against `findings` | why |
 * |---|---|
 * | half of the threshold of loss | Loss close to the threshold is above it in some reports, and below it in others. |
 * | nodes whose kubelet is silent count | A node that is cut off becomes NotReady by it. The fault goes on. |
 *
 * @returns undefined if nothing can differ: without loss and silent kubelets, it costs one look at each result
 */
export function lastingFindings(view: ClusterView): readonly Finding[] | undefined {
  const lossPercent = view.thresholds.lossPercent * SHARE_OF_THRESHOLD;
  const isSilent = view.nodes.some(({ excluded }) => excluded === 'Unreachable');
  if (!isSilent && !hasLoss(view, lossPercent)) return undefined;
  const nodes = view.nodes.map(({ excluded, ...node }) =>
    excluded === undefined || excluded === 'Unreachable' ? node : { ...node, excluded },
  );
  return localise({ ...view, nodes, thresholds: { lossPercent } }).findings.slice(0, MOST_LASTING);
}

/** As for a pair, one lost datagram is no sign of loss. */
function hasLoss({ agents }: ClusterView, lossPercent: number): boolean {
  return agents.some(({ peers }) =>
    peers.some((peer) => {
      const lost = lostOf(peer);
      return lost >= 2 && lost * 100 >= peer.udp.sent * lossPercent;
    }),
  );
}
