/** Kinds that run the pods of a component. */
export const WORKLOAD_KINDS = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;
export type WorkloadKind = (typeof WORKLOAD_KINDS)[number];

/** Types of components. */
export const COMPONENT_TYPES = [
  'Workload',
  'NodeExporter',
  'Prometheus',
  'ConnectivityServer',
  'ConnectivityAgents',
  'Weights',
  'Dashboards',
  'Rules',
  'Objects',
] as const;
export type ComponentType = (typeof COMPONENT_TYPES)[number];
/** Types whose objects the operator renders itself. */
export type BuiltInType = Exclude<ComponentType, 'Workload' | 'Objects'>;
/** Types of which a stack may have several components, since users write the spec of each. */
export const USER_TYPES: readonly ComponentType[] = ['Workload', 'Weights', 'Objects'];
/** Types whose objects another owner may create (modes External and Auto). */
export const FOREIGN_TYPES: readonly ComponentType[] = ['Workload', 'NodeExporter', 'Prometheus', 'Weights'];
/** Types whose object of another owner is searched, or named by `external`. The others name theirs elsewhere in the spec. */
export const NAMED_TYPES = FOREIGN_TYPES.filter((type) => !USER_TYPES.includes(type));
/** Types of which a stack may have only one component. */
export const SINGLE_TYPES = COMPONENT_TYPES.filter((type) => !USER_TYPES.includes(type));

export const COMPONENT_MODES = [
  /** The stack creates the objects and keeps them. */
  'Managed',
  /** Another owner creates the workload or TrafficWeight: the stack waits for it, and writes nothing. */
  'External',
  /** External if another owner has created it, else Managed. */
  'Auto',
  /** The objects do not exist. */
  'Disabled',
] as const;
export type ComponentMode = (typeof COMPONENT_MODES)[number];

/** Kinds of the objects that `external` can name. */
export const EXTERNAL_KINDS = ['DaemonSet', 'Service', 'Node'] as const;
export type ExternalKind = (typeof EXTERNAL_KINDS)[number];

/** States of a component. */
export const COMPONENT_STATES = [
  /** The stack writes none of its objects until all its dependencies are ready. */
  'Waiting',
  /** Its objects are being applied, its pods are being started or replaced, or its weight is not in force yet. */
  'Progressing',
  'Ready',
  /** It was ready, and is no longer ready. */
  'Degraded',
  /** It was not ready within its deadline, or cannot be applied. */
  'Failed',
  /** The status of its workload or TrafficWeight is missing or stale, or its query has no answer. */
  'Unknown',
  /** Its objects are being deleted. */
  'Removing',
] as const;
export type ComponentState = (typeof COMPONENT_STATES)[number];

export const DEFAULT_DEADLINE = '10m';

/** Protocols of the port of a Service, the default first. */
export const PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const;
/** How a StatefulSet starts and ends its pods. */
export const POD_MANAGEMENT_POLICIES = ['OrderedReady', 'Parallel'] as const;

/** Policies for the claims of a StatefulSet whose component is removed. */
export const CLAIM_POLICIES = ['Retain', 'Delete'] as const;

/** Types of the Service of the connectivity server. */
export const SERVICE_TYPES = ['ClusterIP', 'NodePort'] as const;

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const DEFAULT_TOPOLOGY_KEY = 'kubernetes.io/hostname';
