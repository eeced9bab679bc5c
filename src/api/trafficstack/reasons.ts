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
  /** True while only a change of the spec, or of objects of somebody else, can help. */
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
  /** Components depend on one another, or on one that does not exist: nothing is written. */
  InvalidDependencies: 'InvalidDependencies',
  /** Two components have one object, a file cannot be rendered, or no node is selected: nothing is written. */
  InvalidComponents: 'InvalidComponents',
  /** The stack has objects in a namespace in which the operator may not write: nothing is written. */
  NamespaceNotAllowed: 'NamespaceNotAllowed',
  /** An object with the name of one of the stack belongs to somebody else. */
  ForeignObject: 'ForeignObject',
  NotStalled: 'NotStalled',
  /** What the stack is made of cannot be read: nothing is written. */
  NotRead: 'NotRead',
  /** Ready: the stack is being deleted, and has no objects left. */
  Terminating: 'Terminating',
} as const;
export type StackReason = (typeof StackReason)[keyof typeof StackReason];

/** Reasons of Events besides those of conditions. */
export const StackEvent = {
  /** Somebody has changed the stack `default`, which says something else than the flags. */
  FlagsIgnored: 'FlagsIgnored',
  /** Another field manager had changed a field that the stack sets. */
  DriftCorrected: 'DriftCorrected',
  /** A component begins to wait: the note names the root cause, the gate, or what somebody else has to make. */
  ComponentWaiting: 'ComponentWaiting',
  /** The objects of a component are created or changed: the note names the first one. */
  ComponentStarted: 'ComponentStarted',
  /** A component is ready with this revision for the first time. */
  ComponentReady: 'ComponentReady',
  /** A component that was Failed or Degraded is Ready. */
  ComponentRecovered: 'ComponentRecovered',
  /** The last ready revision of a component is being restored in place of one that has failed. */
  ComponentRollingBack: 'ComponentRollingBack',
  /** The same, and the pods of that revision are available. */
  ComponentRolledBack: 'ComponentRolledBack',
} as const;

/** Reasons of the state of a component, besides those of its pods, such as ImagePullBackOff. */
export const ComponentReason = {
  WaitingForDependencies: 'WaitingForDependencies',
  /** An object of its name is of another component, which is being removed. */
  WaitingForRemoval: 'WaitingForRemoval',
  /** What it depends on is ready, and `upgrade.query` is not true: a change of it has not begun. */
  WaitingForGate: 'WaitingForGate',
  /** What it depends on is ready, and a change of an earlier wave has not ended: a change of it has not begun. */
  WaitingForWave: 'WaitingForWave',
  /** The same, and the change of the earlier wave has failed. */
  UpgradeStopped: 'UpgradeStopped',
  /** The workload that somebody else should make does not exist. */
  ExternalMissing: 'ExternalMissing',
  /** What somebody else has made exists, and cannot do what the component is for. */
  ExternalUnusable: 'ExternalUnusable',
  Applying: 'Applying',
  RollingOut: 'RollingOut',
  AllAvailable: 'AllAvailable',
  /** The Prometheus of somebody else that it uses has what it is asked for. */
  Answering: 'Answering',
  /** All its objects are as desired, and none of them has a status, such as a ConfigMap. */
  AllApplied: 'AllApplied',
  PodsUnavailable: 'PodsUnavailable',
  /** Somebody has deleted its workload, which exists until its pods have ended. */
  BeingDeleted: 'BeingDeleted',
  /** Its pods are available, and `ready.expression` or `ready.query` is not true. */
  NotReadyYet: 'NotReadyYet',
  StatusMissing: 'StatusMissing',
  DeadlineExceeded: 'DeadlineExceeded',
  /** It missed its deadline, and gets the objects of its last ready revision back. */
  RollingBack: 'RollingBack',
  /** The same, and the pods of that revision are available. */
  RolledBack: 'RolledBack',
  /** It missed its deadline, and the revision to restore is gone: its objects are left as they are. */
  RevisionMissing: 'RevisionMissing',
  ForeignObject: 'ForeignObject',
  WriteFailed: 'WriteFailed',
  NotInSpec: 'NotInSpec',
  /** The stack is being deleted, and the operator may not delete an object of it: Kubernetes does when the stack is gone. */
  NamespaceNotAllowed: 'NamespaceNotAllowed',
  /** It is not looked at yet; or the spec is invalid, or something cannot be read: the conditions of the stack say why. */
  NotDecided: 'NotDecided',
} as const;
export type ComponentReason = (typeof ComponentReason)[keyof typeof ComponentReason];
