import { namespacesOfName, podLookup } from '../../connectivity/server/pods/agentPods.ts';
import { RateLimit } from '../../connectivity/server/auth/rateLimit.ts';
import { ReportGate } from '../../connectivity/server/auth/reportGate.ts';
import { TokenReviews, type AskReview } from '../../connectivity/server/auth/reviews.ts';
import type { Reports } from '../../connectivity/server/reports/reports.ts';
import type { Informer } from '../../runtime/cache/informer.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { TOKEN_REVIEWS } from '../../runtime/server/metricsServer/access.ts';
import type { ConnectivityServerFlags } from './flags.ts';
import type { AgentPod } from '../../connectivity/server/pods/agentPod.ts';

/**
 * An agent waits for its answer: half its interval, which is 5 s or more in a ConnectivityCheck, and then sends the token
 * before if there is none. A review takes milliseconds.
 */
const REVIEW_MS = 1_500;

interface GateOptions {
  readonly flags: ConnectivityServerFlags;
  readonly client: Client;
  readonly pods: Informer<AgentPod>;
  readonly reports: Reports;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What decides who may report, as the flags say. */
export function createGate({ flags, client, pods, reports, clock, logger }: GateOptions): ReportGate {
  const audience = flags.tokenAudience;
  const reviews = new TokenReviews({ audience, ask: askReview(client), clock, logger });
  return new ReportGate({
    allowAnonymous: flags.allowAnonymous,
    audience,
    rules: { serviceAccounts: flags.agentServiceAccount },
    verify: (token, claim) => reviews.verify(token, claim),
    podOf: (namespace, name) => podLookup(pods, namespace, name),
    namespacesOf: (name) => namespacesOfName(pods, name),
    rate: new RateLimit(clock),
    current: (pod) => reports.current(pod),
  });
}

function askReview(client: Client): AskReview {
  return async (token, audience) => {
    const signal = AbortSignal.timeout(REVIEW_MS);
    const review = { spec: { token, audiences: [audience] } };
    return (await client.create(TOKEN_REVIEWS, review, { signal })).status;
  };
}
