import type {
  ComponentSpec,
  InventoryEntry,
  TrafficStack,
  UsedObject,
  InventoryObject,
} from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject, Resource } from '../../../runtime/client/resource.ts';
import type { Variables } from '../expression/expression.ts';
import type { DesiredObject } from '../render/objects.ts';
import type { DesiredComponent } from './desired.ts';

/** The fields of a container's status that explain why it is not ready. */
export interface StackContainer {
  readonly name: string;
  readonly isReady: boolean;
  readonly isRunning: boolean;
  readonly waiting: { readonly reason: string; readonly message: string } | undefined;
  /** The reason why it ended and does not run yet, such as `OOMKilled`. */
  readonly ended: string | undefined;
  /** Exit code of the last run that ended. */
  readonly lastExit: number | undefined;
  /** The reason why that run ended, such as `OOMKilled`, or `Error` if only the exit code tells. */
  readonly lastReason: string | undefined;
  readonly restarts: number;
}

/** A node that is not Ready. */
interface LostNode {
  readonly name: string;
  /** ms since 1970 */
  readonly since: number;
}

/** A pod of a component, with the fields that the operator reads. */
export interface StackPod extends KubeObject {
  /** namespace/name */
  readonly key: string;
  /** `namespace/stack/component`; `namespace/stack/` for a pod without a workload. */
  readonly component: string;
  /** The controller of the pod, such as `Deployment web`, in its namespace. Empty for other kinds of controllers. */
  readonly workload: string;
  readonly isEnding: boolean;
  /** ms since 1970 */
  readonly createdAt: number;
  /** The revision hash of a StatefulSet's pod. Empty for other pods. */
  readonly revisionHash: string;
  readonly containers: readonly StackContainer[];
  /** Its node. Undefined until one is chosen. */
  readonly nodeName: string | undefined;
  /** The node of the pod if it is not Ready: no kubelet reports on the pod, and it cannot end. */
  readonly lostNode?: LostNode;
  /** Names of its PersistentVolumeClaims. */
  readonly claims: readonly string[];
  /** The reason why no node has room for it. */
  readonly unscheduledMessage: string | undefined;
  /** Set in the phases Failed and Succeeded: the reason, such as `Evicted`; empty if only the containers tell. */
  readonly finished?: { readonly reason: string; readonly message: string } | undefined;
  /** Set if the pods of its namespace take too much memory: its containers, claims and scheduling are unknown. */
  readonly isUnread?: boolean;
}

/** An object of a component, and the live object with its name. */
export interface ObservedObject extends DesiredObject {
  readonly live: KubeObject | undefined;
  /** Hash of the desired object: see appliedHash. */
  readonly hash: string;
  /** True if the live object was applied from this desired object. */
  readonly isCurrent: boolean;
  /** True if a Job of this manifest has completed, and no longer exists: it is not to run again. */
  readonly isCompleted?: boolean;
  /** The component of the stack that still has the live object, and is being removed. */
  readonly heldBy?: string | undefined;
}

/** An enabled component of the spec. */
export interface ObservedComponent extends Partial<
  Pick<DesiredComponent, 'revisionsIn' | 'stored' | 'rolledBackFrom'>
> {
  readonly spec: ComponentSpec;
  readonly objects: readonly ObservedObject[];
  readonly pods: readonly StackPod[];
  /**
   * Whether the requested pods of a built-in component were read: they have no label of the stack, so no cache has them. Undefined for other
   * components.
   */
  readonly arePodsRead?: boolean;
  /** The variables of `ready.expression`. */
  readonly variables: Variables;
  /** The answer to `ready.query`, if there is one. */
  readonly answer?: Answer;
  /** The requested Events; undefined if none were requested. */
  readonly events?: readonly SeenEvent[];
  /** Why the objects of a built-in component must not be written yet. Undefined: they may be written. */
  readonly awaits?: string | undefined;
  /** The revision of the spec, or of the restored objects. */
  readonly revision: string;
  /** The found object that a built-in component does not use, and the reason. */
  readonly unproven?: string | undefined;
  /** Set if a built-in component uses an object of another owner, or waits for it, and so has no objects of its own. */
  readonly external?: ObservedExternal;
}

/** The external object of a built-in component. `objects` has it if it exists. */
export interface ObservedExternal {
  /** A description of the searched object. */
  readonly sought: string;
  /** Why the found object is unusable: a sentence without its subject. */
  readonly problem?: string | undefined;
  /** The object that the spec or the status names. Only this object is read. */
  readonly named?: UsedObject | undefined;
  /** Set while a found object has time to start, before the operator deploys its own: a message for users. */
  readonly awaited?: string;
  /** The server that the operator queries. */
  readonly server?: QueriedServer;
  /** The nodes on which a program listens that no object shows. */
  readonly listening?: ListeningNodes;
}

/** The nodes on which a program listens. */
export interface ListeningNodes {
  readonly port: number;
  /** The number of queried nodes. */
  readonly queried: number;
  /** Names of the nodes with the expected answer, sorted. */
  readonly answering: readonly string[];
}

/** A server of another owner that the operator queries. */
interface QueriedServer {
  readonly url: string;
  /** The series of a usable server, such as `series of node-exporter`. */
  readonly series: string;
}

/** The pods and Events that a plan needs to explain unavailable pods. */
export interface MissingEvidence {
  /** Workloads whose pods must be read, by component, except those already read. */
  readonly podQueries: ReadonlyMap<string, KubeObject>;
  /** Objects whose Events must be read, by component, except those already read. */
  readonly eventQueries: ReadonlyMap<string, EventQuery>;
  /** When they are read next, ms since 1970; Infinity if never. */
  readonly evidenceAt: number;
}

/** An object whose Events may say why pods are not available. */
export interface EventQuery {
  readonly namespace: string;
  readonly uid: string;
}

/** The fields of an Event that the operator reads. */
export interface SeenEvent {
  readonly isWarning: boolean;
  readonly reason: string;
  readonly message: string;
  /** When it was last seen, ms since 1970. */
  readonly at: number;
}

/** The result of a query. */
export type Verdict =
  | { readonly is: 'True' }
  /** @property message what it gives */
  | { readonly is: 'False'; readonly message: string }
  /**
   * @property message why there is no answer
   * @property isNotSent true if a setting keeps the query from being sent: nothing is known about what it asks
   */
  | { readonly is: 'Unknown'; readonly message: string; readonly isNotSent?: true };

/** The last answer to a query. Times are ms of the monotonic clock of this process. */
export type Answer =
  /**
   * It has no answer yet.
   *
   * @property since of an answer that does not count, since its query was sent before this time
   */
  | { readonly is: 'Pending'; readonly since?: number }
  /** @property sentAt when its query was sent */
  | (Verdict & { readonly sentAt: number });

/** A query whose last answer does not count. */
export interface Requery {
  readonly query: string;
  /** The earliest useful time of the next query. Infinity: later than now. */
  readonly since: number;
}

/** Present facts about components, by name. */
export interface Facts {
  /** Components whose pods are available. */
  readonly available: ReadonlyMap<string, string>;
  /** State and revision of components that are not being changed. */
  readonly stable: ReadonlyMap<string, string>;
  /** Components that wait for a found object to start. */
  readonly awaiting: ReadonlyMap<string, string>;
}

/** A fact about a component, and the time of its first observation. */
export interface TimedFact {
  readonly as: string;
  /** ms of the monotonic clock of this process. */
  readonly at: number;
}

/** Facts with their times, as of the last reconcile. */
export type TimedFacts = { readonly [K in keyof Facts]: ReadonlyMap<string, TimedFact> };

/** An existing object of the inventory that is no longer desired. */
export interface LeftObject {
  readonly component: string;
  readonly resource: Resource;
  readonly live: KubeObject;
}

/** A query that must be true before an existing component is changed. */
interface Gate {
  readonly query: string;
  readonly answer: Answer;
}

/** The inputs of a decision about a stack. */
export interface Observation {
  readonly stack: TrafficStack;
  /** Components in the order of their dependencies. Empty if the stack is being deleted. */
  readonly components: readonly ObservedComponent[];
  readonly left: readonly LeftObject[];
  /** Left objects that the operator may not delete. Only a stack that is being deleted has some; others are refused. */
  readonly locked?: readonly LeftObject[];
  /** Inventory that this process may not read, such as TrafficWeights without --weights. */
  readonly unread?: readonly InventoryEntry[];
  /** Undefined if the stack has no gate. */
  readonly gate?: Gate | undefined;
  /** When the present facts were first observed. Undefined: this process has not observed the stack before. */
  readonly seen?: TimedFacts | undefined;
  /** Pods whose workload is in the inventory, by component, without empty lists. */
  readonly withPods: ReadonlyMap<string, readonly StackPod[]>;
  /** Whether pods with the label of the stack have no workload, as after `kubectl delete --cascade=orphan`. Only in namespaces of the inventory. */
  readonly hasOrphanedPods?: boolean;
  /** ms since 1970 */
  readonly now: number;
}

/** Returns whether an object of the inventory is the controller of a pod. */
export function isMadeBy(pod: StackPod, { kind, namespace, name }: InventoryObject): boolean {
  return pod.key.startsWith(`${namespace}/`) && pod.workload === `${kind} ${name}`;
}
