import { ConnectivityReason as Reason } from '../../../api/connectivitycheck/reasons.ts';
import type { RefusedUrls } from '../../../connectivity/protocol/evaluation.ts';
import { type Condition, cut, firstOf } from '../../../runtime/controller/conditions.ts';
import type { Known } from './known.ts';

/** URLs in a message, and characters of each. With them, the message has less than 500 characters. */
const NAMED = 2;
const LONGEST_URL = 80;

/** How a message calls a reason. A newer server may have others. */
const WORDS: Readonly<Record<string, string>> = {
  Loopback: 'loopback',
  LinkLocal: 'link-local',
  OwnAddress: 'of the node or pod itself',
  Unspecified: 'unspecified',
  Multicast: 'multicast',
  Broadcast: 'broadcast',
  CloudMetadata: 'metadata of a cloud',
};

/**
 * Returns the condition URLsAllowed:
 *
 * | known | before | condition |
 * |---|---|---|
 * | an evaluation with refused URLs | | False, AddressRefused |
 * | an evaluation without | present | True, AllAllowed |
 * | an evaluation without | absent | absent |
 * | nothing is deployed | present | Unknown, NotDeployed |
 * | else | | as before |
 *
 * @returns undefined if the condition is unchanged, or stays absent
 */
export function urlsAllowed(
  known: Known,
  isPresent: boolean,
): Pick<Condition, 'status' | 'reason' | 'message'> | undefined {
  if (known.kind === 'NotDeployed' && isPresent) {
    return { status: 'Unknown', reason: Reason.NotDeployed, message: 'The connectivity check is not deployed.' };
  }
  if (known.kind !== 'Evaluated') return undefined;
  const { refused = [] } = known.evaluation;
  if (refused.length > 0) return { status: 'False', reason: Reason.AddressRefused, message: refusalMessage(refused) };
  return isPresent ? { status: 'True', reason: Reason.AllAllowed, message: 'Agents refuse no URL.' } : undefined;
}

function refusalMessage(refused: readonly RefusedUrls[]): string {
  const urls = refused.map(({ url, address, reason, agents }) => {
    const where = `${address}, ${WORDS[reason] ?? reason}`;
    return `${cut(url, LONGEST_URL)} (${where}, ${agents} agent${agents === 1 ? '' : 's'})`;
  });
  return `Not requested: ${firstOf(urls, NAMED)}. Remove the URL, or allow the address in connectivity.allowedTargets of the chart.`;
}
