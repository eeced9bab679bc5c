import type {
  V1Affinity,
  V1LocalObjectReference,
  V1PersistentVolumeClaimTemplate,
  V1PodTemplateSpec,
  V1ResourceRequirements,
  V1Toleration,
} from '@kubernetes/client-node';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { Condition } from '../../runtime/controller/conditions.ts';
import type { TrafficWeightSpec } from '../trafficweight/trafficWeight.ts';
import type {
  ClaimPolicy,
  ComponentMode,
  ComponentState,
  ComponentType,
  LogLevel,
  ServiceType,
  WorkloadKind,
} from './terms.ts';

/** What users ask for. */
export interface TrafficStackSpec {
  common?: CommonSpec | undefined;
  highAvailability?: HighAvailabilitySpec | undefined;
  upgrade?: UpgradeSpec | undefined;
  components: ComponentSpec[];
}

/** How components that exist are changed. */
export interface UpgradeSpec {
  /** PromQL that must be true before a change begins. It must give at least one series, and none that is 0 or NaN. */
  query?: string | undefined;
  /** Whether a changed component that misses its deadline gets its last ready revision back. Default: false. */
  rollback?: boolean | undefined;
}

/** What the pods of all components have, unless their template says otherwise. */
export interface CommonSpec {
  /** A key that the template of a component has, too, keeps the component's value. */
  nodeSelector?: Record<string, string> | undefined;
  /** Beside those of the component. */
  tolerations?: V1Toleration[] | undefined;
  imagePullSecrets?: V1LocalObjectReference[] | undefined;
  priorityClassName?: string | undefined;
  /** For configuration files: `${common.logLevel}`. */
  logLevel?: LogLevel | undefined;
}

/** How the pods of Deployments and StatefulSets are spread. */
export interface HighAvailabilitySpec {
  /** Of a component that has no number of its own. Default: one for each node that `nodeSelector` selects. */
  replicas?: number | undefined;
  /** Nodes that the pods run on. */
  nodeSelector?: Record<string, string> | undefined;
  /** A label of nodes: the pods are spread over its values. Default: kubernetes.io/hostname. */
  topologyKey?: string | undefined;
}

/** One part of a stack. */
export interface ComponentSpec {
  /** Unique in the stack. */
  name: string;
  type: ComponentType;
  /** Default: Managed. */
  mode?: ComponentMode | undefined;
  /** Names of components that must be ready before any object of this one is applied. */
  dependsOn?: string[] | undefined;
  /** A duration. Default: 10m. */
  deadline?: string | undefined;
  ready?: ReadySpec | undefined;
  /** False: `highAvailability` of the stack is not for this component. Default: true. */
  highAvailability?: boolean | undefined;
  /** False: `upgrade.rollback` of the stack is not for this component. Default: true. */
  rollback?: boolean | undefined;
  /** Of the type Workload, which needs it. */
  workload?: WorkloadSpec | undefined;
  /** Of the type NodeExporter. */
  nodeExporter?: NodeExporterSpec | undefined;
  /** Of the type Prometheus. */
  prometheus?: PrometheusSpec | undefined;
  /** Of the type ConnectivityServer. */
  connectivityServer?: ConnectivityServerSpec | undefined;
  /** Of the type ConnectivityAgents. */
  connectivityAgents?: ConnectivityAgentsSpec | undefined;
  /** Of the type Weights: the spec of its TrafficWeight. Absent only if `mode` is External. */
  weights?: TrafficWeightSpec | undefined;
  /** Of the type Dashboards. */
  dashboards?: DashboardsSpec | undefined;
  /** Of the type Rules. */
  rules?: RulesSpec | undefined;
}

/** A component of the type Workload. */
export interface WorkloadComponent extends ComponentSpec {
  workload: WorkloadSpec;
}

/** Whether a component is of the type Workload. Another type may have no workload: see specSchema.ts. */
export function isWorkload(component: ComponentSpec): component is WorkloadComponent {
  return component.workload !== undefined;
}

/** The components of a stack; none of one that an older CRD has accepted without. */
export function componentsIn({ spec }: TrafficStack): readonly ComponentSpec[] {
  return (spec as Partial<TrafficStackSpec> | undefined)?.components ?? [];
}

/** What is special about node-exporter. What is absent is as the flags of the operator say. */
export interface NodeExporterSpec {
  image?: string | undefined;
  /** TCP port on the nodes. */
  port?: number | undefined;
  /** Regular expression of RE2. Devices whose whole name matches are not read. */
  ignoredDevices?: string | undefined;
  priorityClassName?: string | undefined;
  nodeSelector?: Record<string, string> | undefined;
  affinity?: Pick<V1Affinity, 'nodeAffinity'> | undefined;
  /** They replace those of the flags. */
  resources?: V1ResourceRequirements | undefined;
}

/** What is special about the Prometheus of the operator. What is absent is as the flags of the operator say. */
export interface PrometheusSpec {
  image?: string | undefined;
  priorityClassName?: string | undefined;
  nodeSelector?: Record<string, string> | undefined;
  tolerations?: V1Toleration[] | undefined;
  /** They replace those of the flags. */
  resources?: V1ResourceRequirements | undefined;
  /** A duration in whole seconds. */
  scrapeInterval?: string | undefined;
  /** How long samples are kept: a duration of Prometheus. */
  retention?: string | undefined;
  /** Of the blocks on disk: a size of Prometheus. Default with `storage`: half of its size, or 1GB without one. */
  retentionSize?: string | undefined;
  /** It replaces that of the flags as a whole. */
  storage?: PrometheusStorage | undefined;
}

/** The volume for samples. Without `size` and `existingClaim`: an emptyDir. */
export interface PrometheusStorage {
  /** Of a claim that the operator creates: a quantity. */
  size?: string | undefined;
  /** Of that claim. Default: that of the cluster. */
  storageClassName?: string | undefined;
  /** Name of a claim in the namespace of the operator, which it never writes. */
  existingClaim?: string | undefined;
}

/** What is special about the server of the connectivity check. What is absent is as the flags of the operator say. */
export interface ConnectivityServerSpec {
  priorityClassName?: string | undefined;
  nodeSelector?: Record<string, string> | undefined;
  tolerations?: V1Toleration[] | undefined;
  /** They replace those of the flags. */
  resources?: V1ResourceRequirements | undefined;
  /** Until a ConnectivityCheck says another one. A duration in whole seconds. */
  reportInterval?: string | undefined;
  serviceType?: ServiceType | undefined;
  /** Whether reports without a token are accepted. */
  allowAnonymous?: boolean | undefined;
}

/** What is special about the agents of the connectivity check. What is absent is as the flags of the operator say. */
export interface ConnectivityAgentsSpec {
  priorityClassName?: string | undefined;
  nodeSelector?: Record<string, string> | undefined;
  /** Of each agent. They replace those of the flags. */
  resources?: V1ResourceRequirements | undefined;
  /** Until a ConnectivityCheck says another one. A duration in whole seconds. */
  reportInterval?: string | undefined;
  /** TCP and UDP port on the nodes. */
  peerPort?: number | undefined;
}

/** What is special about the ConfigMaps with dashboards of Grafana. */
export interface DashboardsSpec {
  /** Default: that of the operator. */
  namespace?: string | undefined;
  /** By which Grafana selects them. Default: grafana_dashboard: "1". */
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
}

/** What is special about the PrometheusRule. */
export interface RulesSpec {
  /** Default: that of the operator. */
  namespace?: string | undefined;
  /** By which a Prometheus of the Prometheus operator selects it. Default: none. */
  labels?: Record<string, string> | undefined;
}

/** What must be true before a component is ready, beside its pods. */
export interface ReadySpec {
  /** CEL, over `workload`, `services`, `self`, `components` and `common`. It must give a bool. */
  expression?: string | undefined;
  /** PromQL. It must give at least one series, and none that is 0 or NaN. */
  query?: string | undefined;
}

/** Pods that a controller of Kubernetes runs, and their Services. */
export interface WorkloadSpec {
  kind: WorkloadKind;
  namespace: string;
  /** Default: the name of the component. */
  name?: string | undefined;
  /** Default: 1. Absent for a DaemonSet. */
  replicas?: number | undefined;
  /** Absent only if `mode` is External. */
  podTemplate?: V1PodTemplateSpec | undefined;
  services?: StackService[] | undefined;
  config?: StackConfig[] | undefined;
  /** Of a StatefulSet. */
  volumeClaimTemplates?: V1PersistentVolumeClaimTemplate[] | undefined;
  /** What happens to these claims when the component is removed. Default: Retain. */
  volumeClaimPolicy?: ClaimPolicy | undefined;
}

/** A folder of rendered files in all containers. */
export interface StackConfig {
  /** Unique in the component. */
  name: string;
  /** The folder. */
  mountPath: string;
  /** Their contents by name. `${…}` is CEL over `self`, `components` and `common`; `$${` is the text `${`. */
  files: Record<string, string>;
}

/** A Service of a component's pods. */
export interface StackService {
  /** Default: the name of the workload. */
  name?: string | undefined;
  /** Without an address of its own: its name has the addresses of the pods. Default: false. */
  headless?: boolean | undefined;
  ports: { name?: string | undefined; port: number; targetPort?: number | undefined }[];
}

export interface TrafficStackStatus {
  observedGeneration?: number;
  /** Such as `3/5`: ready components of all. */
  summary?: string;
  components?: ComponentStatus[];
  /** What was, or is about to be, created: it is removed in the reverse order of `dependsOn`. */
  inventory?: InventoryEntry[];
  conditions?: Condition[];
}

/** The state of one component. */
export interface ComponentStatus {
  name: string;
  type: ComponentType;
  /** Set if its workload is somebody else's. */
  mode?: 'External';
  /** The workload or Service of somebody else that a built-in component uses, or the first Node with a node-exporter that no workload runs. */
  uses?: UsedObject;
  state: ComponentState;
  /** CamelCase. */
  reason: string;
  message: string;
  /** When `state` last changed; RFC 3339. */
  since: string;
  /** The components that it waits for: that it depends on, of an earlier wave of an upgrade, or that are being removed. */
  blockedBy?: string[];
  waitingOn?: WaitingOn;
  replicas?: number;
  readyReplicas?: number;
  /** Image of the first container, as asked for; as it is if `mode` is External. */
  version?: string;
  /** Another text after each change of its spec. That of the restored objects with `rolledBackFrom`. */
  revision?: string;
  /** The same, if it was ready with this revision and is Ready, Degraded or Unknown since. */
  readyRevision?: string;
  /** The revision with which it was ready last, while it is not ready with the present one. */
  lastReadyRevision?: string;
  /** The revision that was applied last, if it was never ready with it. */
  unreadyRevision?: string;
  /** Set while the objects are those of the last ready revision in place of those of the spec. */
  rolledBackFrom?: RolledBackFrom;
  /** Set while nothing is decided: what was decided last. Its deadline, and what was ready or has failed, go on from there. */
  lastDecided?: LastDecided;
}

/** What was decided of a component before something kept all from being decided. */
export type LastDecided = Pick<ComponentStatus, 'state' | 'reason' | 'message' | 'since' | 'replicas'>;

/** A revision that missed its deadline. */
export interface RolledBackFrom {
  /** It is not applied again. */
  revision: string;
  /** Image of its first container. */
  version?: string;
  /** What was observed at the deadline. */
  message: string;
}

/** The root of a chain of components that wait. */
export interface WaitingOn {
  component: string;
  /** Such as `StatefulSet shop/db`. */
  what: string;
  /** What was observed there. */
  observed: string;
  /** Since when it is as it is; RFC 3339. */
  since: string;
}

/** The objects of one component. */
export interface InventoryEntry {
  component: string;
  dependsOn: string[];
  objects: InventoryObject[];
}

export interface InventoryObject {
  kind: string;
  namespace: string;
  name: string;
}

/** What somebody else has made, and a component uses. */
export interface UsedObject extends InventoryObject {
  /** Of a Prometheus: where the operator asks it. */
  url?: string;
}

export interface TrafficStack extends KubeObject {
  spec: TrafficStackSpec;
  status?: TrafficStackStatus;
}

export const TRAFFIC_STACKS: Resource<TrafficStack> = {
  group: 'traffic.example.com',
  version: 'v1alpha1',
  kind: 'TrafficStack',
  plural: 'trafficstacks',
  namespaced: false,
};
