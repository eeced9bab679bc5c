import type { AlertGroup, AlertingRule, OfLeader } from '../alertingRule.ts';
import { UNDECIDED_REASONS, WeightReason } from './reasons.ts';
import { REFUSED_REASONS, type HostReason, type RampPhase } from './terms.ts';

/** Reasons with which records may not have their weights although the weight of the cluster is unchanged. */
const NOT_WRITTEN: readonly WeightReason[] = [
  WeightReason.WriteFailed,
  WeightReason.NotPublished,
  WeightReason.ZoneUnavailable,
];

const ROLLED_BACK = ['RollingBack', 'RolledBack', 'Held'] as const satisfies RampPhase[];

/**
 * Reasons of refused hosts that no alert selects. The host has no record, its source has an Event, and a record that stays makes
 * TrafficWeightNotInForce fire (WriteFailed). The deployed Prometheus would restart for another expression.
 */
export const UNALERTED_HOSTS: readonly string[] = ['NameTooLong', 'TooLarge'] satisfies HostReason[];

/** Matchers of scrape jobs. */
interface Jobs {
  /** Selects the manager's job. */
  readonly manager: string;
  /** Selects the pods for DNS weights, also where they share a job with the manager. */
  readonly any: string;
  /** Selects the job that only the pods for DNS weights have. */
  readonly own: string;
}

/**
 * Returns the alerts about DNS weights, silent without TrafficWeights.
 *
 * The first is an alert of k8s-traffic-controller, which compares both weights; during a ramp, it compares the weight of the step. It also fires if no
 * weight was ever active, so that there is no current weight to compare with, and if writes fail or hosted zones differ while the weight of
 * the cluster is unchanged, so that records do not follow the readiness of Services.
 *
 * @param jobs undefined without pods for DNS weights
 */
export function weightAlerts(ofLeader: OfLeader, jobs?: Jobs): AlertGroup {
  const step = `max by (trafficweight) ${ofLeader('traffic_operator_trafficweight_step_weight')}`;
  const current = `max by (trafficweight) ${ofLeader('cluster_traffic_controller_ingress_weight_current')}`;
  const notWritten = `reason=~"${NOT_WRITTEN.join('|')}"`;
  const unwritten = ofLeader('traffic_operator_trafficweight_ready', notWritten);
  const refused = `reason=~"${REFUSED_REASONS.filter((reason) => !UNALERTED_HOSTS.includes(reason)).join('|')}"`;
  const unacknowledged = `reason="${WeightReason.AcknowledgeFailed}"`;
  const rolledBack = `phase=~"${ROLLED_BACK.join('|')}"`;
  const withoutData = 'phase="Waiting"';
  const undecided = `reason=~"${UNDECIDED_REASONS.join('|')}"`;
  return {
    name: 'weights',
    rules: [
      ...(jobs === undefined ? [] : [notRunning(jobs), withoutLeader(jobs)]),
      {
        alert: 'TrafficWeightNotInForce',
        expr: `(\n${step}\nunless\n${step}\n== ${current}\n)\nor\n${step}\nand on (trafficweight)\n${unwritten} == 0`,
        for: '15m',
        severity: 'warning',
        summary: 'The weight {{ $value }} of TrafficWeight {{ $labels.trafficweight }} is not in force',
        description:
          'For 15 minutes, DNSEndpoints could not be written, external-dns has not read them, or a hosted zone has other weights or cannot be read. Clients get another share.',
      },
      {
        alert: 'TrafficWeightUndecided',
        expr: `max by (trafficweight, reason) ${ofLeader('traffic_operator_trafficweight_ready', undecided)} == 0`,
        for: '15m',
        severity: 'warning',
        summary: 'No weight can be decided for TrafficWeight {{ $labels.trafficweight }}: {{ $labels.reason }}',
        description:
          'For 15 minutes, the operator could not read the weight, or what the records are made of, or the spec was invalid. The records are unchanged.',
      },
      {
        alert: 'TrafficWeightRemovalNotConfirmed',
        expr: `max by (trafficweight, namespace) ${ofLeader('traffic_operator_trafficweight_unconfirmed_hosts')} > 0`,
        for: '1m',
        severity: 'warning',
        summary:
          '{{ $value }} hosts of namespace {{ $labels.namespace }} would lose their records of TrafficWeight {{ $labels.trafficweight }}',
        description:
          'Nothing selects these hosts any longer, maybe by a typing error in the spec. They keep their records until the spec is correct, or the removal is confirmed.',
      },
      {
        alert: 'TrafficWeightNotAcknowledged',
        expr: `max by (trafficweight) ${ofLeader('traffic_operator_trafficweight_ready', unacknowledged)} == 0`,
        for: '15m',
        severity: 'warning',
        summary: 'The weight of TrafficWeight {{ $labels.trafficweight }} is in force, and its backend does not say so',
        description:
          'For 15 minutes, the operator could not write to the backend that the weight is in force. Who waits for that waits on.',
      },
      {
        alert: 'TrafficWeightRolledBack',
        expr: `max by (trafficweight, phase) ${ofLeader('traffic_operator_trafficweight_step_weight', rolledBack)}`,
        for: '1m',
        severity: 'warning',
        summary:
          'The gate of TrafficWeight {{ $labels.trafficweight }} failed: {{ $labels.phase }} at the weight {{ $value }}',
        description:
          'The gate of a ramp failed more often than its limit allows. The desired weight is not reached until another weight is desired.',
      },
      {
        alert: 'TrafficWeightGateWithoutData',
        expr: `max by (trafficweight) ${ofLeader('traffic_operator_trafficweight_step_weight', withoutData)}`,
        for: '30m',
        severity: 'warning',
        summary: 'The gate of TrafficWeight {{ $labels.trafficweight }} has no data',
        description: 'For 30 minutes, the query of a gate has given no number, so that the ramp waits at its step.',
      },
      {
        alert: 'TrafficWeightHostsNotAccepted',
        expr: `sum by (trafficweight) ${ofLeader('traffic_operator_trafficweight_hosts', refused)} > 0`,
        for: '15m',
        severity: 'warning',
        summary: '{{ $value }} hosts of TrafficWeight {{ $labels.trafficweight }} are not accepted',
        description:
          'For 15 minutes, an annotation has been invalid, or another Ingress or DNSEndpoint has been in the way. Events on the Ingresses say which.',
      },
    ],
  };
}

/** Parts of expressions, and the same before the hosted zones were compared. */
const EARLIER: readonly (readonly [string, string])[] = [
  [`reason=~"${NOT_WRITTEN.join('|')}"`, `reason="${WeightReason.WriteFailed}"`],
  ['|Delegated|NotPublishable', ''],
];

/** Returns the alerts as they were before the hosted zones were compared: their change alone must not restart a Prometheus. */
export function earlierWeightAlerts({ name, rules }: AlertGroup): AlertGroup {
  const earlier = (text: string): string => EARLIER.reduce((all, [now, then]) => all.replaceAll(now, then), text);
  return {
    name,
    rules: rules
      .filter(({ alert }) => alert !== 'TrafficWeightRemovalNotConfirmed')
      .map((rule) => ({ ...rule, expr: earlier(rule.expr) })),
  };
}

const ofWeights = ({ any }: Jobs): string => `traffic_operator_leader{${any},process="weights"}`;

/** Only the manager knows that the pods should exist. Silent while Prometheus knows their job: then TrafficWeightsWithoutLeader fires. */
function notRunning(jobs: Jobs): AlertingRule {
  return {
    alert: 'TrafficWeightsNotRunning',
    expr: `max(traffic_operator_process_expected{${jobs.manager},process="weights"}) == 1
unless on ()
(${ofWeights(jobs)} or up{${jobs.own}})`,
    for: '10m',
    severity: 'critical',
    summary: 'No pod for DNS weights is scraped',
    description:
      'DNS weights are enabled. For 10 minutes, Prometheus has known no pod of the Deployment for them, or could not scrape any. The records are unchanged.',
  };
}

/** Silent while Prometheus knows no pod. */
function withoutLeader(jobs: Jobs): AlertingRule {
  return {
    alert: 'TrafficWeightsWithoutLeader',
    expr: `max(up{${jobs.own}}) == 0\nor\nsum(${ofWeights(jobs)}) == 0`,
    for: '5m',
    severity: 'critical',
    summary: 'No process gives DNS records their weights',
    description:
      'For 5 minutes, no pod of the Deployment for DNS weights could be scraped, or none has held the Lease. The records are unchanged.',
  };
}
