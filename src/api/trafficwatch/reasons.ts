/**
 * The words a user may wait for or alert on: condition types and reasons. A reason is also the reason of the event
 * that goes with it, so both are found by the same search. Renaming one breaks scripts; add instead.
 */

/** Types of the conditions in `status.conditions` (metav1.Condition). `Ready` sums up the others. */
export const ConditionType = {
  /**
   * The watch has decided, its nodes carry labels by two passes that agreed, and it is not Stalled. Equals
   * `status.ready`.
   */
  Ready: 'Ready',
  /** True while something that was asked for is still under way; absent work makes it False. */
  Reconciling: 'Reconciling',
  /** True when nothing will happen until somebody changes something; the message says what. */
  Stalled: 'Stalled',
  /** The last pass had an answer from Prometheus. */
  PrometheusReachable: 'PrometheusReachable',
  /** The last answer had usable numbers for every node. */
  MetricsAvailable: 'MetricsAvailable',
} as const;
export type ConditionType = (typeof ConditionType)[keyof typeof ConditionType];

/** Reasons in conditions and events, CamelCase as the Kubernetes API conventions ask. */
export const Reason = {
  // Ready, Reconciling
  Decided: 'Decided',
  Deciding: 'Deciding',
  /** First visit: nothing is known yet. */
  Initializing: 'Initializing',
  /** The workload exists although nothing was measured for 60 s. */
  DecidedWithoutData: 'DecidedWithoutData',
  /** Every write that the plan asked for is done. */
  UpToDate: 'UpToDate',
  /** Labels are being written, which takes longer than a few seconds; the message says how many are. */
  Applying: 'Applying',
  /** The new label key is being decided while the old one is still in force. */
  LabelRenaming: 'LabelRenaming',
  /** Somebody changes a node label of ours again and again; it is put right ever more rarely. */
  LabelContested: 'LabelContested',
  /** An autoscaler sets the replicas that the spec names, too: its count stands. */
  ReplicasContested: 'ReplicasContested',
  /** The API server refused a write for another reason than RBAC. */
  WriteRefused: 'WriteRefused',
  ApiServerUnreachable: 'ApiServerUnreachable',
  WriteFailed: 'WriteFailed',

  // Stalled
  /** Stalled is False. */
  NotStalled: 'NotStalled',
  /** The API server drops fields, since the CRD is older than the operator: nothing is written until it is updated. */
  CrdOutdated: 'CrdOutdated',
  InvalidSpec: 'InvalidSpec',
  /** An older TrafficWatch owns the same label key. */
  LabelKeyTaken: 'LabelKeyTaken',
  /** A Deployment of that name exists that this TrafficWatch does not own. */
  DeploymentNotOwned: 'DeploymentNotOwned',
  /** `spec.selector` of a Deployment can't be changed. */
  SelectorChanged: 'SelectorChanged',
  /** The API server refuses the Deployment as invalid. */
  DeploymentInvalid: 'DeploymentInvalid',
  /** RBAC, quota or an admission webhook refuses a write. */
  Forbidden: 'Forbidden',

  // PrometheusReachable
  PrometheusAnswers: 'PrometheusAnswers',
  PrometheusUnreachable: 'PrometheusUnreachable',
  /** No answer before the pass had to end. */
  PrometheusDeadline: 'PrometheusDeadline',
  /** An HTTP status that is no answer to a query, such as 502 from a proxy or 401. */
  PrometheusBadStatus: 'PrometheusBadStatus',
  /** Answered, but not with what the Prometheus API promises. */
  PrometheusBadAnswer: 'PrometheusBadAnswer',
  PrometheusTooLarge: 'PrometheusTooLarge',
  /** Prometheus understood the query and could not carry it out. */
  PrometheusQueryFailed: 'PrometheusQueryFailed',
  /** 401 or 403. */
  PrometheusUnauthorized: 'PrometheusUnauthorized',
  /** A password, token or CA file that cannot be read. */
  PrometheusBadConfiguration: 'PrometheusBadConfiguration',
  /** A defect of the operator's own; the log has it. */
  PrometheusInternal: 'PrometheusInternal',
  /** No pass has ended yet. */
  NotAskedYet: 'NotAskedYet',

  // MetricsAvailable
  AllMeasured: 'AllMeasured',
  /** Some nodes have no usable numbers, or Prometheus sent warnings with its answer. */
  PartialData: 'PartialData',
  /** No node has usable numbers. */
  NoData: 'NoData',
  /** Fewer than four scrapes fall into the rate window. */
  WindowTooShort: 'WindowTooShort',

  // verdicts of nodes that cannot be measured: no problem of the figures
  /** No Linux, or a virtual kubelet. */
  NotMeasurable: 'NotMeasurable',
  /** Not Ready for longer than some moments, switched off perhaps. */
  NodeNotReady: 'NodeNotReady',

  // events only
  NodeFit: 'NodeFit',
  NodeUnfit: 'NodeUnfit',
  DeploymentCreated: 'DeploymentCreated',
  DeploymentUpdated: 'DeploymentUpdated',
  /** A Deployment made by PKopel/traffic-operator for this very object is ours now. */
  DeploymentAdopted: 'DeploymentAdopted',
  /** The threshold is 100 or more: only a node that is measured beyond its capacity is unfit. */
  ThresholdAtCapacity: 'ThresholdAtCapacity',
  /** A kubelet that restarted on an unfit node rejected pods, whose required node affinity did not hold any more. */
  PodsRejected: 'PodsRejected',
  /** Every node is over the threshold. */
  AllNodesUnfit: 'AllNodesUnfit',
} as const;
export type Reason = (typeof Reason)[keyof typeof Reason];
