import { Gauge, type Registry } from 'prom-client';
import type { ConnectivityCheckStatus } from '../../api/connectivitycheck/connectivityCheck.ts';
import { FINDING_CLASSES } from '../../api/connectivitycheck/finding.ts';
import { CONNECTIVITY_VERDICTS } from '../../api/connectivitycheck/terms.ts';
import { silentBudgets, type CreateBudget } from '../../runtime/manager/seriesBudget.ts';

/** ConnectivityChecks with series within three hours. Their names are of the cluster, so that all share one limit. */
const MOST_CHECKS = { ofOwner: 100, ofAll: 200 };

/** The metrics of ConnectivityChecks. Only the leader has their series. */
export interface ConnectivityCheckMetrics {
  /** Records verdict and findings of the check `name`. */
  record(name: string, status: ConnectivityCheckStatus): void;
  /** Drops all series of the check `name`. */
  forget(name: string): void;
  /** Records whether the server answers; undefined if it is not asked. */
  serverUp(up: boolean | undefined): void;
}

/** Registers the metrics: at most 15 series for each check, whatever the size of the cluster. */
export function createConnectivityCheckMetrics(
  registry: Registry,
  createBudget: CreateBudget = silentBudgets,
): ConnectivityCheckMetrics {
  const budget = createBudget('ConnectivityCheck', MOST_CHECKS);
  const verdicts = new Gauge({
    name: 'traffic_operator_connectivity_verdict',
    help: '1 for the present verdict of a ConnectivityCheck, 0 for the others: Healthy, Degraded, Failed, Unknown. Only the leader reports it.',
    labelNames: ['check', 'verdict'],
    registers: [registry],
  });
  const findings = new Gauge({
    name: 'traffic_operator_connectivity_findings',
    help: 'Findings in the status of a ConnectivityCheck, by class. Only the leader reports it.',
    labelNames: ['check', 'class'],
    registers: [registry],
  });
  const up = new Gauge({
    name: 'traffic_operator_connectivity_server_up',
    help: '1 if the connectivity server answers the operator, 0 if not. Absent in standbys and without a ConnectivityCheck.',
    // A gauge without labels would have a 0 from the beginning.
    labelNames: [],
    registers: [registry],
  });
  up.remove();
  return {
    record(check, { verdict: now = 'Unknown', findings: present = [] }) {
      if (budget.show(check, [{ owner: '', id: '' }]).size === 0) return;
      for (const verdict of CONNECTIVITY_VERDICTS) verdicts.set({ check, verdict }, verdict === now ? 1 : 0);
      for (const one of FINDING_CLASSES) {
        findings.set({ check, class: one }, present.filter((finding) => finding.class === one).length);
      }
    },
    forget(check) {
      budget.forget(check);
      for (const verdict of CONNECTIVITY_VERDICTS) verdicts.remove({ check, verdict });
      for (const one of FINDING_CLASSES) findings.remove({ check, class: one });
    },
    serverUp(isUp) {
      if (isUp === undefined) up.remove();
      else up.set(isUp ? 1 : 0);
    },
  };
}
