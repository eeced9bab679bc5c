import type * as z from 'zod';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { Condition } from '../../runtime/controller/conditions.ts';
import type { specSchema } from './specSchema.ts';
import type { ComponentState, ComponentType } from './terms.ts';

/** The spec of a TrafficStack: the fields that users write. */
export type TrafficStackSpec = z.infer<typeof specSchema>;

/** How the operator changes existing components. */
export type UpgradeSpec = NonNullable<TrafficStackSpec['upgrade']>;

/** Defaults for the pods of all components. */
export type CommonSpec = NonNullable<TrafficStackSpec['common']>;

/** How the pods of Deployments and StatefulSets are spread. */
export type HighAvailabilitySpec = NonNullable<TrafficStackSpec['highAvailability']>;

/** One part of a stack. */
export type ComponentSpec = TrafficStackSpec['components'][number];

/** Settings of the built-in types. Absent fields take the value of the operator's flags. */
export type NodeExporterSpec = NonNullable<ComponentSpec['nodeExporter']>;
export type PrometheusSpec = NonNullable<ComponentSpec['prometheus']>;
export type ConnectivityServerSpec = NonNullable<ComponentSpec['connectivityServer']>;
export type ConnectivityAgentsSpec = NonNullable<ComponentSpec['connectivityAgents']>;
export type DashboardsSpec = NonNullable<ComponentSpec['dashboards']>;
export type RulesSpec = NonNullable<ComponentSpec['rules']>;

/** The volume for samples. Without `size` and `existingClaim` it is an emptyDir. */
export type PrometheusStorage = NonNullable<PrometheusSpec['storage']>;

/** Conditions of readiness, in addition to ready pods. */
export type ReadySpec = NonNullable<ComponentSpec['ready']>;

/** Pods that a controller of Kubernetes runs, and their Services. */
export type WorkloadSpec = NonNullable<ComponentSpec['workload']>;

/** A Service of a component's pods. */
export type StackService = NonNullable<WorkloadSpec['services']>[number];

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
  /** The object of another owner that the component uses, or the first Node with a node-exporter that no workload runs. */
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
  /** The revision with which the component was ready before `readyRevision` or `lastReadyRevision`. A return to it waits for nothing. */
  earlierReadyRevision?: string;
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

/** An object of another owner that a component uses. With `external.url`, its kind is URL, and its name the host. */
export interface UsedObject extends InventoryObject {
  /** URL of a Prometheus. */
  url?: string;
  /** Set if `external` of the component names it. */
  fromSpec?: true;
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
