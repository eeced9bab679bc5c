/**
 * Condition types and reasons of TrafficStacks. Users wait for them and alert on them, so never rename one; add a new one
 * instead.
 */

/** Types of the conditions in `status.conditions` (metav1.Condition). */
export const StackCondition = {
  /** True when every component is ready. */
  Ready: 'Ready',
  /** True while components wait, or their pods are being started or replaced. */
  Progressing: 'Progressing',
  /** True while pods of a component that was ready are not available, or a component has failed. */
  Degraded: 'Degraded',
  /** True while only a change of the spec, or of objects of another owner, can help. */
  Stalled: 'Stalled',
} as const;
export type StackCondition = (typeof StackCondition)[keyof typeof StackCondition];

/** Reasons of conditions. */
export const StackReason = {
  AllReady: 'AllReady',
  InProgress: 'InProgress',
  NothingToDo: 'NothingToDo',
  ComponentDegraded: 'ComponentDegraded',
  ComponentFailed: 'ComponentFailed',
  NotDegraded: 'NotDegraded',
  /** The spec is invalid: nothing is written. */
  InvalidSpec: 'InvalidSpec',
  /** Dependencies are circular, or name a component that does not exist: nothing is written. */
  InvalidDependencies: 'InvalidDependencies',
  /** Two components have the same object, a file cannot be rendered, or no node is selected: nothing is written. */
  InvalidComponents: 'InvalidComponents',
  /** The stack has objects in a namespace in which the operator may not write: nothing is written. */
  NamespaceNotAllowed: 'NamespaceNotAllowed',
  /** The stacks of the cluster take too much memory, and this is one of the largest: nothing is written. */
  TooLarge: 'TooLarge',
  /** Stacks of users are off: nothing is written. */
  StacksNotEnabled: 'StacksNotEnabled',
  /** An object that the stack wants to create exists and has another owner. */
  ForeignObject: 'ForeignObject',
  NotStalled: 'NotStalled',
  /** The operator cannot read the objects that the stack consists of: nothing is written. */
  NotRead: 'NotRead',
  /** Ready: the stack is being deleted, and has no objects left. */
  Terminating: 'Terminating',
} as const;
export type StackReason = (typeof StackReason)[keyof typeof StackReason];

/** Reasons that only Events have. */
export const StackEvent = {
  /** A user has changed the stack `default`, so that it differs from the flags. */
  FlagsIgnored: 'FlagsIgnored',
  /** The operator has found the object that a component of the stack `default` uses, and named it in the spec. */
  ExternalFound: 'ExternalFound',
  /** Another field manager had changed a field that the stack sets. */
  DriftCorrected: 'DriftCorrected',
  /** A component begins to wait: the note names the root cause, the gate, or the object that another owner has to create. */
  ComponentWaiting: 'ComponentWaiting',
  /** The objects of a component are created or changed: the note names the first one. */
  ComponentStarted: 'ComponentStarted',
  /** A component is ready with this revision for the first time. */
  ComponentReady: 'ComponentReady',
  /** A component that was Failed or Degraded is Ready. */
  ComponentRecovered: 'ComponentRecovered',
  /** A revision of a component has failed, and the operator is restoring the last ready one. */
  ComponentRollingBack: 'ComponentRollingBack',
  /** The operator has restored the last ready revision, and its pods are available. */
  ComponentRolledBack: 'ComponentRolledBack',
} as const;

/** Reasons of the state of a component. Reasons of its pods, such as ImagePullBackOff, can take their place. */
export const ComponentReason = {
  WaitingForDependencies: 'WaitingForDependencies',
  /** An object of the same name belongs to another component, which is being removed. */
  WaitingForRemoval: 'WaitingForRemoval',
  /** Its dependencies are ready, but `upgrade.query` is not true: the operator has not begun to change it. */
  WaitingForGate: 'WaitingForGate',
  /** The operator lacks a Secret, or a file of it, that the objects of the component need. */
  WaitingForSecret: 'WaitingForSecret',
  /** Its dependencies are ready, but an earlier wave has not ended: the operator has not begun to change it. */
  WaitingForWave: 'WaitingForWave',
  /** A change in an earlier wave has failed: the operator does not change this component. */
  UpgradeStopped: 'UpgradeStopped',
  /** The workload, which another owner creates, does not exist. */
  ExternalMissing: 'ExternalMissing',
  /** The object of another owner exists, but cannot serve as this component. */
  ExternalUnusable: 'ExternalUnusable',
  /** Somebody has set the number of pods to 0, where the spec does not say a number. */
  ScaledToZero: 'ScaledToZero',
  Applying: 'Applying',
  RollingOut: 'RollingOut',
  AllAvailable: 'AllAvailable',
  /** The component uses a Prometheus of another owner, which has the series that the operator asks for. */
  Answering: 'Answering',
  /** All its objects are up to date, and none of them has a status (ConfigMaps have none). */
  AllApplied: 'AllApplied',
  PodsUnavailable: 'PodsUnavailable',
  /** Its workload was deleted, and exists until its pods have ended. */
  BeingDeleted: 'BeingDeleted',
  /** An object of the type Objects has failed for good: a Job. */
  ObjectFailed: 'ObjectFailed',
  /** Its pods are available, but `ready.expression` or `ready.query` is not true; or an object of the type Objects is not ready. */
  NotReadyYet: 'NotReadyYet',
  StatusMissing: 'StatusMissing',
  DeadlineExceeded: 'DeadlineExceeded',
  /** It missed its deadline, and the operator is restoring its last ready revision. */
  RollingBack: 'RollingBack',
  /** The operator has restored the last ready revision, and its pods are available. */
  RolledBack: 'RolledBack',
  /** It missed its deadline, and the revision to restore no longer exists: its objects are unchanged. */
  RevisionMissing: 'RevisionMissing',
  ForeignObject: 'ForeignObject',
  WriteFailed: 'WriteFailed',
  NotInSpec: 'NotInSpec',
  /** The operator may not delete an object of a stack that is being deleted: Kubernetes deletes it after the stack. */
  NamespaceNotAllowed: 'NamespaceNotAllowed',
  /** Not checked yet; or the spec is invalid, or something cannot be read: the conditions of the stack say why. */
  NotDecided: 'NotDecided',
} as const;
export type ComponentReason = (typeof ComponentReason)[keyof typeof ComponentReason];
