import type { RefusedUrls } from '../../protocol/evaluation.ts';
import type { RefusedUrl } from '../../protocol/measurement.ts';

/**
 * Returns the URLs of a check that agents refuse, in the order of the check. If agents refuse different addresses of a URL,
 * the address of the first agent counts. URLs that the check does not have are left out: they belong to other checks, or a
 * report without a token made them up.
 *
 * @param urls of the check
 * @param agents what each agent with a current report refused
 */
export function refusedUrls(
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
