import { levelOf } from '../../options/commonFlags.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { CONNECTIVITY_SERVER_FLAGS, type ConnectivityServerFlags } from './flags.ts';
import { storeChoice, createStore, type ChosenStore } from './store.ts';
import {
  createAgentPodInformer,
  expectedPods,
  isExpectedPod,
  nodeOfPod,
  namespacesOfName,
  podLookup,
} from '../../connectivity/server/pods/agentPods.ts';
import { connectivityApi } from '../../connectivity/server/api/api.ts';
import { ReportGate, RateLimit } from '../../connectivity/server/auth/reportGate.ts';
import { Housekeeping, Reports } from '../../connectivity/server/reports/reports.ts';
import { reportMetrics } from '../../connectivity/server/reports/metrics.ts';
import type { Informer } from '../../runtime/cache/informer.ts';
import { createClient, type Client } from '../../runtime/client/client.ts';
import { createTransport } from '../../runtime/client/transport.ts';
import { cachePart, Manager } from '../../runtime/manager/manager.ts';
import { createMetrics, createRegistry, type RuntimeMetrics } from '../../runtime/manager/metrics.ts';
import { systemClock, type Clock } from '../../runtime/process/clock.ts';
import type { Part } from '../../runtime/process/part.ts';
import { HTTP_LIMITS, type HttpLimits } from '../../runtime/server/httpServer/limits.ts';
import { loadKubeConfig } from '../kubeConfig.ts';
import { createEvaluation, type EvaluationParts } from './evaluation.ts';
import type { AgentPod } from '../../connectivity/server/pods/agentPod.ts';
import { TokenReviews, type AskReview } from '../../connectivity/server/auth/reviews.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { TOKEN_REVIEWS } from '../../runtime/client/resources.ts';
import { readCertificate, renewalPart } from '../../runtime/server/certificate.ts';
import { serverPart } from '../../runtime/server/httpListener.ts';
import { createHttpServer, createHttpsListener, type HttpServerOptions } from '../../runtime/server/httpServer.ts';

/** `connectivity-server`: collects the reports of the connectivity agents. */
export const connectivityServer: Command = defineCommand<typeof CONNECTIVITY_SERVER_FLAGS>({
  name: 'connectivity-server',
  flags: CONNECTIVITY_SERVER_FLAGS,
  logLevel: levelOf,
  check(flags) {
    // Throws for flags that do not fit together, before the process says that it starts.
    storeChoice(flags);
    return undefined;
  },
  run: runConnectivityServer,
});

/**
 * The limits that differ from the limits of other servers:
 *
 * - crowd: reports reuse their connections in clusters of up to 500 nodes on two planes. An idle connection takes 12 KiB, and
 *   66 KiB with TLS, so 10,000 of them would take 650 MiB, more than the memory limit of the Deployment. A new connection takes
 *   0.03 ms of CPU, and 0.9 ms with TLS.
 * - connections: one for each agent of 10,000 nodes on two planes, and some for users.
 * - longAnswers: the reports and the metrics of 10,000 agents are 15 MB each. A slow reader of the metrics holds 4 MB, one of
 *   the reports 0.1 MB. Four readers from one address, or eight from two, are enough for two replicas of Prometheus and for
 *   users.
 */
const LIMITS: HttpLimits = { ...HTTP_LIMITS, crowd: 1_000, connections: 21_000, longAnswers: 8 };

/**
 * Runs the connectivity server until the signal is aborted.
 *
 * @throws UsageError if the kubeconfig, the certificate, or flags or files for etcd, cannot be used; Error if the address
 * cannot be bound
 */
async function runConnectivityServer(
  flags: ConnectivityServerFlags,
  { logger, signal }: CommandContext,
): Promise<void> {
  const choice = storeChoice(flags);
  const metrics = createMetrics(createRegistry());
  const transport = createTransport({
    kubeConfig: loadKubeConfig(flags.kubeconfig),
    logger,
    metrics: metrics.transport,
  });
  const reports = new Reports(systemClock);
  const pods = createAgentPodInformer({ transport, logger, metrics: metrics.reflector }, flags.agentServiceAccount);
  const chosen = await createStore({ choice, flags, client: createClient(transport), reports, logger });
  const reportIntervalMs = flags.reportinterval * 1_000;
  const evaluation = createEvaluation({ transport, pods, reports, reportIntervalMs, metrics, logger });
  const manager = new Manager(logger);
  const gate = createGate({ flags, client: createClient(transport), pods, reports, clock: systemClock, logger });
  manager.add(
    ...(await createApiParts({ flags, reports, pods, chosen, evaluation, gate, metrics, logger })),
    // The server answers at once: an API server that is away makes no agent fail.
    { ...cachePart(pods), whenReady: () => Promise.resolve() },
    { name: 'store of the reports', stage: 'work', run: (stop) => chosen.store.run(stop) },
    housekeepingPart({ flags, reports, pods, chosen, evaluation }),
    ...evaluation.parts,
  );
  try {
    await manager.run(signal);
  } finally {
    await chosen.close();
    await transport.close();
  }
}

interface Parts {
  readonly flags: ConnectivityServerFlags;
  readonly reports: Reports;
  readonly pods: Informer<AgentPod>;
  readonly chosen: ChosenStore;
  readonly evaluation: EvaluationParts;
}

interface ApiParts extends Parts {
  readonly gate: ReportGate;
  readonly metrics: RuntimeMetrics;
  readonly logger: CommandContext['logger'];
}

function createApiParts(o: ApiParts): Promise<readonly Part[]> {
  const { flags, reports, pods, chosen, evaluation, gate, metrics, logger } = o;
  const { store } = chosen;
  const startedAt = systemClock.monotonic();
  const handler = connectivityApi({
    reports,
    gate,
    expected: () => (store.problem === undefined ? expectedPods(pods) : { problem: store.problem }),
    isExpected: (pod) => isExpectedPod(pods, pod),
    nodeOf: (pod) => nodeOfPod(pods, pod),
    accepted: (state) => store.changed(state),
    grace: () => ({ sinceStartMs: systemClock.monotonic() - startedAt, intervalMs: flags.reportinterval * 1_000 }),
    stored: (pod) => chosen.metadataOf(pod),
    ...evaluation.api,
    metrics: async () => ({
      status: 200,
      text: await metrics.registry.metrics(),
      parts: reportMetrics(reports, evaluation.assignedTo, evaluation.urlBudget),
      headers: { 'content-type': metrics.registry.contentType },
    }),
  });
  const name = 'connectivity server';
  const options = { name, address: flags.endpoint, handler, metrics: metrics.http, logger, limits: LIMITS };
  return listenerParts(options, flags.tlsCertPath);
}

function housekeepingPart({ flags, reports, pods, chosen: { store }, evaluation: { measurements } }: Parts): Part {
  const housekeeping = new Housekeeping({ reports, pods, store, ttlMs: flags.reportTtl * 1_000 });
  return {
    name: 'missing reports',
    stage: 'work',
    run: async (stop) => {
      while (!stop.aborted) {
        await systemClock.sleep(flags.checkInterval * 1_000, stop);
        housekeeping.run();
        measurements.keepOnly((pod) => reports.get(pod) !== undefined);
      }
    },
  };
}

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

/** Creates the checks of senders that the flags request. */
function createGate({ flags, client, pods, reports, clock, logger }: GateOptions): ReportGate {
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

/**
 * Serves HTTP or, with a certificate, HTTPS (TLS 1.2 or newer) on the same address. A renewed certificate is used for new
 * connections.
 *
 * @param certPath directory with tls.crt and tls.key
 * @throws UsageError if the certificate is unusable
 */
async function listenerParts(options: HttpServerOptions, certPath: string | undefined): Promise<readonly Part[]> {
  if (certPath === undefined) return [serverPart(createHttpServer(options))];
  const source = { directory: certPath, flag: '--tls-cert-path', needs: 'it must hold' };
  const first = await readCertificate(source);
  const server = createHttpsListener(options, { ...first, http2: false });
  const { logger } = options;
  return [serverPart(server.listener), renewalPart({ name: 'server certificate', server, first, source, logger })];
}
