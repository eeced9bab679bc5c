import type * as z from 'zod';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { Condition } from '../../runtime/controller/conditions.ts';
import { GROUP } from '../group.ts';
import type { specSchema } from './specSchema.ts';
import type { statusSchema } from './statusSchema.ts';
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

/** Objects of kinds that the administrator allows. */
export type ObjectsSpec = NonNullable<ComponentSpec['objects']>;

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

type StoredStatus = NonNullable<z.infer<typeof statusSchema>>;
type StoredComponent = NonNullable<StoredStatus['components']>[number];

/** The status as the operator writes it: see statusSchema.ts. */
export interface TrafficStackStatus extends StoredStatus {
  components?: ComponentStatus[];
  conditions?: Condition[];
}

/** The state of one component. */
export interface ComponentStatus extends StoredComponent {
  type: ComponentType;
  mode?: 'External';
  uses?: UsedObject;
  state: ComponentState;
  lastDecided?: LastDecided;
}

/** The last state of a component before the spec became invalid or something could not be read. */
export type LastDecided = Pick<ComponentStatus, 'state' | 'reason' | 'message' | 'since' | 'replicas'>;

/** A revision that missed its deadline. */
export type RolledBackFrom = NonNullable<StoredComponent['rolledBackFrom']>;

/** The object or field at the root of a chain of waiting components. */
export type WaitingOn = NonNullable<StoredComponent['waitingOn']>;

/** The objects of one component. */
export type InventoryEntry = NonNullable<StoredStatus['inventory']>[number];

export type InventoryObject = InventoryEntry['objects'][number];

/** An object of another owner that a component uses. With `external.url`, its kind is URL, and its name the host. */
export interface UsedObject extends NonNullable<StoredComponent['uses']> {
  fromSpec?: true;
}

export interface TrafficStack extends KubeObject {
  spec: TrafficStackSpec;
  status?: TrafficStackStatus;
}

export const TRAFFIC_STACKS: Resource<TrafficStack> = {
  group: GROUP,
  version: 'v1alpha1',
  kind: 'TrafficStack',
  plural: 'trafficstacks',
  namespaced: false,
};
