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

/** The spec of a TrafficStack: the fields that users write. */
export interface TrafficStackSpec {
  common?: CommonSpec | undefined;
  highAvailability?: HighAvailabilitySpec | undefined;
  upgrade?: UpgradeSpec | undefined;
  components: ComponentSpec[];
}

/** How the operator changes existing components. */
export interface UpgradeSpec {
  /** PromQL that must be true before a change begins: it returns at least one series, and none is 0 or NaN. */
  query?: string | undefined;
  /** Whether the operator restores the last ready revision of a changed component that misses its deadline. Default: false. */
  rollback?: boolean | undefined;
}

/** Defaults for the pods of all components. */
export interface CommonSpec {
  /** Labels of nodes. A key that the template of a component also has keeps the template's value. */
  nodeSelector?: Record<string, string> | undefined;
  /** Added to the tolerations of the component. */
  tolerations?: V1Toleration[] | undefined;
  imagePullSecrets?: V1LocalObjectReference[] | undefined;
  priorityClassName?: string | undefined;
  /** For use in configuration files: `${common.logLevel}`. */
  logLevel?: LogLevel | undefined;
}

/** How the pods of Deployments and StatefulSets are spread. */
export interface HighAvailabilitySpec {
  /** Pods of a component that has no replicas of its own. Default: one for each node that `nodeSelector` selects. */
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
  /** False: `highAvailability` of the stack does not apply to this component. Default: true. */
  highAvailability?: boolean | undefined;
  /** False: `upgrade.rollback` of the stack does not apply to this component. Default: true. */
  rollback?: boolean | undefined;
  /** Only for the type Workload, which requires it. */
  workload?: WorkloadSpec | undefined;
  /** Only for the type NodeExporter. */
  nodeExporter?: NodeExporterSpec | undefined;
  /** Only for the type Prometheus. */
  prometheus?: PrometheusSpec | undefined;
  /** Only for the type ConnectivityServer. */
  connectivityServer?: ConnectivityServerSpec | undefined;
  /** Only for the type ConnectivityAgents. */
  connectivityAgents?: ConnectivityAgentsSpec | undefined;
  /** Only for the type Weights: the spec of its TrafficWeight. May be absent only if `mode` is External. */
  weights?: TrafficWeightSpec | undefined;
  /** Only for the type Dashboards. */
  dashboards?: DashboardsSpec | undefined;
  /** Only for the type Rules. */
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

/** Returns the components of a stack. An older CRD may have accepted a spec without components: it has none. */
export function componentsIn({ spec }: TrafficStack): readonly ComponentSpec[] {
  return (spec as Partial<TrafficStackSpec> | undefined)?.components ?? [];
}

/** Settings of node-exporter. Absent fields take the value of the operator's flags. */
export interface NodeExporterSpec {
  image?: string | undefined;
  /** TCP port on the nodes. */
  port?: number | undefined;
  /** Regular expression of RE2. Devices whose whole name matches are not read. */
  ignoredDevices?: string | undefined;
  priorityClassName?: string | undefined;
  nodeSelector?: Record<string, string> | undefined;
  affinity?: Pick<V1Affinity, 'nodeAffinity'> | undefined;
  resources?: V1ResourceRequirements | undefined;
}

/** Settings of the Prometheus of the operator. Absent fields take the value of the operator's flags. */
export interface PrometheusSpec {
  image?: string | undefined;
  priorityClassName?: string | undefined;
  nodeSelector?: Record<string, string> | undefined;
  tolerations?: V1Toleration[] | undefined;
  resources?: V1ResourceRequirements | undefined;
  /** A duration in whole seconds. */
  scrapeInterval?: string | undefined;
  /** How long samples are kept: a duration of Prometheus. */
  retention?: string | undefined;
  /** Most bytes of blocks on disk, as Prometheus writes sizes. Default with `storage`: half of its size, or 1GB without a size. */
  retentionSize?: string | undefined;
  /** Replaces all storage flags. */
  storage?: PrometheusStorage | undefined;
}

/** The volume for samples. Without `size` and `existingClaim` it is an emptyDir. */
export interface PrometheusStorage {
  /** Size of a claim that the operator creates: a quantity. */
  size?: string | undefined;
  /** StorageClass of that claim. Default: the default StorageClass of the cluster. */
  storageClassName?: string | undefined;
  /** Name of a claim in the namespace of the operator, which it never writes. */
  existingClaim?: string | undefined;
}

/** Settings of the server of the connectivity check. Absent fields take the value of the operator's flags. */
export interface ConnectivityServerSpec {
  priorityClassName?: string | undefined;
  nodeSelector?: Record<string, string> | undefined;
  tolerations?: V1Toleration[] | undefined;
  resources?: V1ResourceRequirements | undefined;
  /** A duration in whole seconds. The interval of a ConnectivityCheck takes precedence. */
  reportInterval?: string | undefined;
  serviceType?: ServiceType | undefined;
  /** Whether reports without a token are accepted. */
  allowAnonymous?: boolean | undefined;
}

/** Settings of the agents of the connectivity check. Absent fields take the value of the operator's flags. */
export interface ConnectivityAgentsSpec {
  priorityClassName?: string | undefined;
  nodeSelector?: Record<string, string> | undefined;
  /** Requests and limits of each agent. */
  resources?: V1ResourceRequirements | undefined;
  /** A duration in whole seconds. The interval of a ConnectivityCheck takes precedence. */
  reportInterval?: string | undefined;
  /** TCP and UDP port on the nodes. */
  peerPort?: number | undefined;
}

/** Settings of the ConfigMaps with dashboards of Grafana. */
export interface DashboardsSpec {
  /** Default: the namespace of the operator. */
  namespace?: string | undefined;
  /** Labels by which Grafana selects the ConfigMaps. Default: grafana_dashboard: "1". */
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
}

/** Settings of the PrometheusRule. */
export interface RulesSpec {
  /** Default: the namespace of the operator. */
  namespace?: string | undefined;
  /** Labels by which a Prometheus of the Prometheus operator selects the PrometheusRule. Default: none. */
  labels?: Record<string, string> | undefined;
}

/** Conditions of readiness, in addition to ready pods. */
export interface ReadySpec {
  /** CEL, over `workload`, `services`, `self`, `components` and `common`. It must return true or false. */
  expression?: string | undefined;
  /** PromQL. True if it returns at least one series and none is 0 or NaN. */
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
  /** Only for a StatefulSet. */
  volumeClaimTemplates?: V1PersistentVolumeClaimTemplate[] | undefined;
  /** Whether these claims are kept or deleted when the component is removed. Default: Retain. */
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
  /** True: the Service has no address of its own, and its name resolves to the addresses of the pods. Default: false. */
  headless?: boolean | undefined;
  ports: { name?: string | undefined; port: number; targetPort?: number | undefined }[];
}

export interface TrafficStackStatus {
  observedGeneration?: number;
  /** Number of ready components and of all components, such as `3/5`. */
  summary?: string;
  components?: ComponentStatus[];
  /** The objects that exist or are about to be created. They are removed in the reverse order of `dependsOn`. */
  inventory?: InventoryEntry[];
  conditions?: Condition[];
}

/** The state of one component. */
export interface ComponentStatus {
  name: string;
  type: ComponentType;
  /** Set if another owner manages its workload. */
  mode?: 'External';
  /** The workload or Service of another owner that a built-in component uses, or the first Node with a node-exporter that no workload runs. */
  uses?: UsedObject;
  state: ComponentState;
  /** CamelCase. */
  reason: string;
  message: string;
  /** When `state` last changed; RFC 3339. */
  since: string;
  /** The components that it waits for: its dependencies, components of an earlier wave of an upgrade, or components that are being removed. */
  blockedBy?: string[];
  waitingOn?: WaitingOn;
  replicas?: number;
  readyReplicas?: number;
  /** Image of the first container: the requested image; with `mode` External, the image that runs. */
  version?: string;
  /** Hash of the settings of the component. With `rolledBackFrom`, the revision of the restored objects. */
  revision?: string;
  /** Equal to `revision` if the component was ready with it, and has been Ready, Degraded or Unknown since. */
  readyRevision?: string;
  /** The revision with which the component was ready last, while it is not ready with the present one. */
  lastReadyRevision?: string;
  /** The revision that was applied last, if the component was never ready with it. */
  unreadyRevision?: string;
  /** Set while the component runs with its last ready revision instead of the revision in the spec. */
  rolledBackFrom?: RolledBackFrom;
  /** The last state. Set while the spec is invalid or something cannot be read; afterwards the component continues from this state. */
  lastDecided?: LastDecided;
}

/** The last state of a component before the spec became invalid or something could not be read. */
export type LastDecided = Pick<ComponentStatus, 'state' | 'reason' | 'message' | 'since' | 'replicas'>;

/** A revision that missed its deadline. */
export interface RolledBackFrom {
  /** It is not applied again. */
  revision: string;
  /** Image of its first container. */
  version?: string;
  /** State of the component at the deadline. */
  message: string;
}

/** The object or field at the root of a chain of waiting components. */
export interface WaitingOn {
  component: string;
  /** The object, such as `StatefulSet shop/db`, or the field that holds a change back. */
  what: string;
  /** State of that object or field. */
  observed: string;
  /** Since when it has this state; RFC 3339. */
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

/** An object of another owner that a component uses. */
export interface UsedObject extends InventoryObject {
  /** URL of a Prometheus. */
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
