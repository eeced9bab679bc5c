/**
 * Condition types and reasons of ConnectivityChecks. Users wait for them and alert on them, so never rename one; add a
 * new one instead.
 */

/** Types of the conditions in `status.conditions` (metav1.Condition). */
export const ConnectivityCondition = {
  /** True when the check works: the server has answered for this spec, and the answer has a verdict. */
  Ready: 'Ready',
  /** True with the verdict Healthy, False with Degraded and Failed, Unknown with Unknown. */
  Healthy: 'Healthy',
  /** True when the connectivity server answers. */
  ServerReachable: 'ServerReachable',
  /** True when every agent of a checked node reports. */
  AgentsReporting: 'AgentsReporting',
  /**
   * False while agents refuse the address of a URL in spec.probes.urls. Absent until that happens. It has no effect on the
   * verdict and on Ready.
   */
  URLsAllowed: 'URLsAllowed',
} as const;
export type ConnectivityCondition = (typeof ConnectivityCondition)[keyof typeof ConnectivityCondition];

/**
 * Reasons in conditions and events. In addition, class and severity of a finding together are a reason, such as
 * `PodNetworkFailed`: the event of a new finding has it, and the condition Healthy has the reason of the first finding.
 */
export const ConnectivityReason = {
  /** First visit: nothing is known yet. */
  Initializing: 'Initializing',

  /** Ready: the check is being deleted. */
  Terminating: 'Terminating',

  // Ready, Healthy
  /** Ready: there is a verdict. */
  Checked: 'Checked',
  Healthy: 'Healthy',
  /** All agents report, but no pair of two nodes is measured: all nodes but one are left out, or agents have just started. */
  NoPairsObserved: 'NoPairsObserved',
  /** A part of the check has no result, such as a network without agents, or only findings are left that nothing measures any longer. */
  NotMeasured: 'NotMeasured',
  /** The server answers, but has not evaluated this generation of the spec yet, or no longer evaluates the check. */
  NotEvaluatedYet: 'NotEvaluatedYet',
  /** All conditions: the checks of the cluster take too much memory, and this is one of the largest. */
  TooLarge: 'TooLarge',
  /** All conditions: the operator does not deploy the connectivity check, and no flag gives the URL of a server. */
  NotDeployed: 'NotDeployed',

  // ServerReachable; also Ready, Healthy and AgentsReporting while it is False
  ServerAnswers: 'ServerAnswers',
  /** No connection, or it broke. */
  ServerUnreachable: 'ServerUnreachable',
  /** No complete answer within the deadline. */
  ServerDeadline: 'ServerDeadline',
  /** An HTTP status other than 200. */
  ServerBadStatus: 'ServerBadStatus',
  /** The answer is not JSON, or its fields are not as expected. */
  ServerBadAnswer: 'ServerBadAnswer',
  ServerTooLarge: 'ServerTooLarge',
  /** The file with the CA certificates cannot be read. */
  ServerBadConfiguration: 'ServerBadConfiguration',

  // AgentsReporting; also Ready and Healthy
  AllReporting: 'AllReporting',
  /** Some agents do not report. */
  AgentsMissing: 'AgentsMissing',
  /** No agent reports, or no agent exists. */
  NoAgentReports: 'NoAgentReports',

  // URLsAllowed
  /** No agent refuses a URL. */
  AllAllowed: 'AllAllowed',
  /** Agents do not request a URL, since its address is one of their node or cloud. */
  AddressRefused: 'AddressRefused',

  // events only
  FindingCleared: 'FindingCleared',
  /** More findings appeared or cleared at once than have an event each. */
  MoreFindings: 'MoreFindings',
} as const;
export type ConnectivityReason = (typeof ConnectivityReason)[keyof typeof ConnectivityReason];
