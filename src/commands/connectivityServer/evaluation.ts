import { CONNECTIVITY_CHECKS } from '../../api/connectivitycheck/connectivityCheck.ts';
import { APPLY_CRD } from '../../api/crd.ts';
import { createCheckInformer, createNodeInformer } from '../../connectivity/server/evaluation/caches.ts';
import type { ConnectivityApi } from '../../connectivity/server/api/api.ts';
import { registerEvaluationMetrics } from '../../connectivity/server/evaluation/evaluationMetrics.ts';
import { Connectivity } from '../../connectivity/server/evaluation/evaluations.ts';
import { Measurements } from '../../connectivity/server/reports/measurements.ts';
import { MOST_PROBED_URLS } from '../../connectivity/server/reports/metrics.ts';
import type { Reports } from '../../connectivity/server/reports/reports.ts';
import { registerUrlMetrics, type AssignedUrls } from '../../connectivity/server/reports/urlMetrics.ts';
import { type Informer, logMissingCrd } from '../../runtime/cache/informer.ts';
import type { Transport } from '../../runtime/client/transport/types.ts';
import { cachePart } from '../../runtime/manager/manager.ts';
import type { RuntimeMetrics } from '../../runtime/manager/metrics.ts';
import { seriesBudgets, type SeriesBudget } from '../../runtime/manager/seriesBudget.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { Part } from '../../runtime/process/part.ts';
import type { AgentPod } from '../../connectivity/server/pods/agentPod.ts';

interface EvaluationOptions {
  readonly transport: Transport;
  readonly pods: Informer<AgentPod>;
  readonly reports: Reports;
  /** The interval of agents that have not reported, ms. */
  readonly reportIntervalMs: number;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
}

/** The parts of the server that the original does not have: measurements, assignments and evaluations. */
export interface EvaluationParts {
  readonly measurements: Measurements;
  readonly assignedTo: AssignedUrls;
  /** The URLs that have series of agents. */
  readonly urlBudget: SeriesBudget;
  /** Hooks of the API. */
  readonly api: Pick<ConnectivityApi, 'measured' | 'evaluations'>;
  readonly parts: readonly Part[];
}

/** The server also starts without Nodes or ConnectivityChecks: the original API needs neither. */
export function createEvaluation(o: EvaluationOptions): EvaluationParts {
  const { transport, pods, reports, reportIntervalMs, metrics, logger } = o;
  const options = { transport, logger, metrics: metrics.reflector };
  const onRefusal = logMissingCrd({ resource: CONNECTIVITY_CHECKS, logger, waiting: 'the server', advice: APPLY_CRD });
  const checks = createCheckInformer({ ...options, onRefusal });
  const caches = { pods, nodes: createNodeInformer(options), checks };
  const measurements = new Measurements(systemClock);
  const serverNode = process.env.MY_NODE_NAME;
  const clock = systemClock;
  const connectivity = new Connectivity({
    ...{ caches, reports, measurements },
    clock,
    logger,
    reportIntervalMs,
    serverNode,
  });
  const createBudget = seriesBudgets({ clock, logger, metrics });
  registerEvaluationMetrics(metrics.registry, connectivity, clock, createBudget);
  const assignedTo: AssignedUrls = (report) => connectivity.urlsOf(report);
  registerUrlMetrics(metrics.registry, { checks, reports, assignedTo }, createBudget);
  const whenReady = (): Promise<void> => Promise.resolve();
  return {
    measurements,
    assignedTo,
    urlBudget: createBudget('probed_url', MOST_PROBED_URLS),
    api: {
      measured: ({ report }, measurement) => {
        measurements.accept(report, measurement);
        if (measurement === undefined) return undefined;
        connectivity.seen(report, measurement);
        return connectivity.assignment(report, measurement);
      },
      evaluations: () => connectivity.evaluations(),
    },
    parts: [
      { ...cachePart(caches.nodes), whenReady },
      { ...cachePart(caches.checks), whenReady },
    ],
  };
}
