/**
 * Condition types and reasons. Users wait for them and alert on them, so never rename one; add a new one instead. The
 * event of a condition change has the same reason, so that one search finds both.
 */

/** Types of the conditions in `status.conditions` (metav1.Condition). `Ready` summarizes the others. */
export const ConditionType = {
  /** True when the nodes are decided by two passes that agreed, and Stalled is not True. Equals `status.ready`. */
  Ready: 'Ready',
  /** True while a requested change is in progress; False when nothing is left to do. */
  Reconciling: 'Reconciling',
  /** True when the operator cannot continue until a user changes something; the message names the change. */
  Stalled: 'Stalled',
  /** True when Prometheus answered the last pass. */
  PrometheusReachable: 'PrometheusReachable',
  /** True when the last answer had figures for every node that can be measured. */
  MetricsAvailable: 'MetricsAvailable',
  /**
   * True while more nodes are above the threshold than the spec allows to be unfit, and for breakerCooldown after
   * that.
   */
  BreakerOpen: 'BreakerOpen',
  /** True when the workload of `spec.targetRef` is known. Absent without a targetRef. */
  TargetFound: 'TargetFound',
  /** True when no admission policy adds the node affinity to pods. Absent with `spec.deployment`. */
  InjectionUnavailable: 'InjectionUnavailable',
  /** True when pods have found no node for 60 s, since nodes are unfit. Absent with the placement Preferred. */
  NoFitNode: 'NoFitNode',
} as const;
export type ConditionType = (typeof ConditionType)[keyof typeof ConditionType];

/** Reasons in conditions and events, CamelCase as the Kubernetes API conventions ask. */
export const Reason = {
  // Ready, Reconciling
  Decided: 'Decided',
  Deciding: 'Deciding',
  /** First visit: nothing is known yet. */
  Initializing: 'Initializing',
  /** The Deployment was created after 60 s without data. */
  DecidedWithoutData: 'DecidedWithoutData',
  /** The TrafficWatch is being deleted. Ready is False. */
  Terminating: 'Terminating',
  /** All planned writes are done. */
  UpToDate: 'UpToDate',
  /** Writing the labels takes more than a few seconds; the message gives the progress. */
  Applying: 'Applying',
  /** The TrafficWatches of the namespace changed more labels than it may at once. The other labels are written later. */
  LabelsBehind: 'LabelsBehind',
  /** The label key changed: the old key stays in force until the nodes are decided under the new one. */
  LabelRenaming: 'LabelRenaming',
  /** Another client keeps changing a node label of the operator, which corrects it with increasing delays. */
  LabelContested: 'LabelContested',
  /** An autoscaler, or another client that keeps scaling, and the spec both set the replicas; the count of the client applies. */
  ReplicasContested: 'ReplicasContested',
  /** The API server rejected a write for a reason other than RBAC. */
  WriteRefused: 'WriteRefused',
  ApiServerUnreachable: 'ApiServerUnreachable',
  WriteFailed: 'WriteFailed',

  // Stalled
  /** Stalled is False. */
  NotStalled: 'NotStalled',
  /**
   * The API server drops fields, because the CRD is older than the operator. Nothing is written until it is updated.
   */
  CrdOutdated: 'CrdOutdated',
  /**
   * Fields of the spec are gone although nobody removed them: an older CRD dropped them. Nothing is written until the
   * spec changes.
   */
  SpecFieldsLost: 'SpecFieldsLost',
  InvalidSpec: 'InvalidSpec',
  /** The namespace, or the cluster, has more TrafficWatches than are decided, and this one is not among the oldest. */
  TooManyTrafficWatches: 'TooManyTrafficWatches',
  /** The older TrafficWatches of the namespace, or of the cluster, leave no room for the figures that this one needs. */
  TooManyReadings: 'TooManyReadings',
  /** Another TrafficWatch owns the same label key: it is older, or the key carries its namespace. */
  LabelKeyTaken: 'LabelKeyTaken',
  /** The operator may not write Deployments, or not in this namespace (trafficWatch.deployments of the chart). */
  DeploymentsNotAllowed: 'DeploymentsNotAllowed',
  /** A Deployment of that name exists that this TrafficWatch does not own. */
  DeploymentNotOwned: 'DeploymentNotOwned',
  /** `spec.selector` of a Deployment is immutable. */
  SelectorChanged: 'SelectorChanged',
  /** The API server rejects the Deployment as invalid. */
  DeploymentInvalid: 'DeploymentInvalid',
  /** RBAC, a quota or an admission webhook rejects a write. */
  Forbidden: 'Forbidden',

  // PrometheusReachable
  PrometheusAnswers: 'PrometheusAnswers',
  PrometheusUnreachable: 'PrometheusUnreachable',
  /** Prometheus did not answer before the deadline of the pass. */
  PrometheusDeadline: 'PrometheusDeadline',
  /** An unexpected HTTP status, such as 502 from a proxy. */
  PrometheusBadStatus: 'PrometheusBadStatus',
  /** The response does not conform to the Prometheus API. */
  PrometheusBadAnswer: 'PrometheusBadAnswer',
  PrometheusTooLarge: 'PrometheusTooLarge',
  /** Prometheus returned an error for the query. */
  PrometheusQueryFailed: 'PrometheusQueryFailed',
  /** 401 or 403. */
  PrometheusUnauthorized: 'PrometheusUnauthorized',
  /** A password, token or CA file cannot be read. */
  PrometheusBadConfiguration: 'PrometheusBadConfiguration',
  /** An internal error of the operator; the log has the details. */
  PrometheusInternal: 'PrometheusInternal',
  /** No pass has ended yet. */
  NotAskedYet: 'NotAskedYet',

  // MetricsAvailable
  AllMeasured: 'AllMeasured',
  /** Some nodes have no figures, or the response contained warnings. */
  PartialData: 'PartialData',
  /** No node has figures. */
  NoData: 'NoData',
  /** spec.nodeSelector selects no node, so there is nothing to measure. */
  NoNodeSelected: 'NoNodeSelected',
  /** The pass had no time left for the direction, measure, devices and capacity of this TrafficWatch. */
  NotEvaluated: 'NotEvaluated',
  /** The rate window contains fewer than four scrapes. */
  WindowTooShort: 'WindowTooShort',

  // BreakerOpen
  /** More nodes are above the threshold than maxUnfit or minFit allows to be unfit. */
  TooManyUnfit: 'TooManyUnfit',
  /** The nodes above the threshold are within the limit again, but not for breakerCooldown yet. */
  CoolingDown: 'CoolingDown',
  /** No node is held back. */
  WithinLimit: 'WithinLimit',

  // TargetFound
  TargetResolved: 'TargetResolved',
  /** The target does not exist in the namespace of the TrafficWatch. */
  TargetNotFound: 'TargetNotFound',
  /** The API server serves no such kind, or the kind has neither a known selector nor a scale subresource. */
  TargetKindUnknown: 'TargetKindUnknown',
  /** The target selects no pods: its selector is missing, cannot be read, or selects a single revision only. */
  TargetWithoutPods: 'TargetWithoutPods',
  /** The operator may not read the target, or the API server did not answer. */
  TargetUnreadable: 'TargetUnreadable',

  // InjectionUnavailable
  /** The policy and its binding are installed. */
  PolicyInstalled: 'PolicyInstalled',
  /** The API server does not serve MutatingAdmissionPolicy (admissionregistration.k8s.io/v1): Kubernetes before 1.36. */
  PolicyNotServed: 'PolicyNotServed',
  /** The MutatingAdmissionPolicy of the operator, or its binding, is not installed. */
  PolicyMissing: 'PolicyMissing',
  /** The admission webhook of the operator is there instead of the policy, and gets the pods of the namespace. */
  WebhookInstalled: 'WebhookInstalled',
  /** The admission webhook is installed, and cannot be called, or not for the namespace. */
  WebhookNotReady: 'WebhookNotReady',
  /** The policy is older than the operator: it reads TrafficWatches and no PodPlacement. */
  PolicyOutdated: 'PolicyOutdated',
  /** With AtCreation: more nodes are unfit than status.avoidedNodes can name. */
  UnfitNodesOmitted: 'UnfitNodesOmitted',
  /** The PodPlacement of the namespace does not have the TrafficWatch yet, or the webhook not the namespace. */
  PlacementPending: 'PlacementPending',
  /** The PodPlacement of the namespace cannot be written or read. */
  PlacementNotWritten: 'PlacementNotWritten',
  /** The PodPlacement of the namespace has no room for the TrafficWatch. */
  PlacementFull: 'PlacementFull',
  /** Whether the policy or the webhook is installed cannot be read. */
  PolicyUnreadable: 'PolicyUnreadable',

  // NoFitNode
  /** Pods find no node because of their node affinity, while nodes are unfit. */
  PodsBlocked: 'PodsBlocked',
  NoPodBlocked: 'NoPodBlocked',
  /** The operator may not watch pods. */
  PodsUnreadable: 'PodsUnreadable',

  // Nodes that cannot be measured. MetricsAvailable ignores them.
  /** The node does not run Linux, or is a virtual node. */
  NotMeasurable: 'NotMeasurable',
  /** The node has not been Ready for a while; it may be powered off. */
  NodeNotReady: 'NodeNotReady',

  // events only
  NodeFit: 'NodeFit',
  NodeUnfit: 'NodeUnfit',
  DeploymentCreated: 'DeploymentCreated',
  DeploymentUpdated: 'DeploymentUpdated',
  /** The operator took over a Deployment that PKopel/traffic-operator created for this object. */
  DeploymentAdopted: 'DeploymentAdopted',
  /** The threshold is 100 or more: a node is unfit only if its measured traffic exceeds its capacity. */
  ThresholdAtCapacity: 'ThresholdAtCapacity',
  /** A restarted kubelet rejected pods because the required node affinity no longer matches its unfit node. */
  PodsRejected: 'PodsRejected',
  /** Pods were evicted from unfit nodes by the eviction API, as a descheduler does. */
  PodsEvicted: 'PodsEvicted',
  /** Every node is over the threshold. */
  AllNodesUnfit: 'AllNodesUnfit',
} as const;
export type Reason = (typeof Reason)[keyof typeof Reason];
