import {
  createAgentPodInformer,
  expectedPods,
  isExpectedPod,
  nodeOfPod,
} from '../../connectivity/server/pods/agentPods.ts';
import { connectivityApi } from '../../connectivity/server/api/api.ts';
import type { ReportGate } from '../../connectivity/server/auth/reportGate.ts';
import { Housekeeping } from '../../connectivity/server/reports/housekeeping.ts';
import { reportMetrics } from '../../connectivity/server/reports/metrics.ts';
import { Reports } from '../../connectivity/server/reports/reports.ts';
import type { Informer } from '../../runtime/cache/informer.ts';
import { createClient } from '../../runtime/client/client.ts';
import { createTransport } from '../../runtime/client/transport.ts';
import { cachePart, Manager } from '../../runtime/manager/manager.ts';
import { createMetrics, createRegistry, type RuntimeMetrics } from '../../runtime/manager/metrics.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import type { Part } from '../../runtime/process/part.ts';
import { HTTP_LIMITS, type HttpLimits } from '../../runtime/server/httpServer/limits.ts';
import type { CommandContext } from '../command.ts';
import { loadKubeConfig } from '../kubeConfig.ts';
import { createEvaluation, type EvaluationParts } from './evaluation.ts';
import type { ConnectivityServerFlags } from './flags.ts';
import { createGate } from './gate.ts';
import { listenerParts } from './listener.ts';
import { createStore, type ChosenStore } from './store.ts';
import { storeChoice } from './storeChoice.ts';
import type { AgentPod } from '../../connectivity/server/pods/agentPod.ts';

/**
 * What differs from other servers:
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
export async function runConnectivityServer(
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
