import type {
  ComponentSpec,
  InventoryEntry,
  TrafficStack,
  UsedObject,
} from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject, Resource } from '../../../runtime/client/resource.ts';
import type { Variables } from '../expression/expression.ts';
import type { DesiredObject } from '../render/objects.ts';
import type { Target } from '../model/target.ts';

/** The part of a container's status that tells why it is not ready. */
export interface StackContainer {
  readonly name: string;
  readonly isReady: boolean;
  readonly isRunning: boolean;
  readonly waiting: { readonly reason: string; readonly message: string } | undefined;
  /** Why it has ended and does not run again yet, such as `OOMKilled`. */
  readonly ended: string | undefined;
  /** Exit code of the last run that ended. */
  readonly lastExit: number | undefined;
  /** Why that run ended, such as `OOMKilled`, or `Error` if only the exit code tells. */
  readonly lastReason: string | undefined;
  readonly restarts: number;
}

/** A node that is not Ready. */
export interface LostNode {
  readonly name: string;
  /** ms since 1970 */
  readonly since: number;
}

/** A pod of a component, with what is read here. */
export interface StackPod extends KubeObject {
  /** namespace/name */
  readonly key: string;
  /** `namespace/stack/component`; empty for a pod that no workload made. */
  readonly component: string;
  /** What made it, such as `Deployment web`, in its namespace. Empty for a pod that no Deployment, StatefulSet or DaemonSet made. */
  readonly workload: string;
  readonly isEnding: boolean;
  /** ms since 1970 */
  readonly createdAt: number;
  /** Of its template, as the StatefulSet names it. Empty for other pods. */
  readonly revisionHash: string;
  readonly containers: readonly StackContainer[];
  /** Its node. Undefined until one is chosen. */
  readonly nodeName: string | undefined;
  /** Its node, if that is not Ready: nobody reports on the pod then, and it cannot end. */
  readonly lostNode?: LostNode;
  /** Names of its PersistentVolumeClaims. */
  readonly claims: readonly string[];
  /** Why no node has room for it. */
  readonly unscheduledMessage: string | undefined;
  /** Of a pod of the phase Failed or Succeeded, which stays as it is: why, such as `Evicted`; empty if only its containers tell. */
  readonly finished?: { readonly reason: string; readonly message: string } | undefined;
  /** Set if the pods of its namespace take too much memory: its containers and claims, and why it has no node, are not known. */
  readonly isUnread?: boolean;
}

/** An object of a component, and what the cluster has under its name. */
export interface ObservedObject extends DesiredObject {
  readonly live: KubeObject | undefined;
  /** Of the desired object: see appliedHash. */
  readonly hash: string;
  /** Whether the live object was applied from this very desired one. */
  readonly isCurrent: boolean;
  /** Another component of the stack that the live object is of; its objects are being removed. */
  readonly heldBy?: string | undefined;
}

/** A component of the spec that should exist. */
export interface ObservedComponent extends Partial<Pick<Target, 'revisionsIn' | 'stored' | 'rolledBackFrom'>> {
  readonly spec: ComponentSpec;
  readonly objects: readonly ObservedObject[];
  readonly pods: readonly StackPod[];
  /**
   * Of a built-in component, whose pods have no label of the stack and so are in no cache: whether the pods of the workload that the plan
   * asks for were read. Undefined for others.
   */
  readonly arePodsRead?: boolean;
  /** For the expression that decides whether it is ready. */
  readonly variables: Variables;
  /** Of the query that decides whether it is ready, if it has one. */
  readonly answer?: Answer;
  /** Events about the object that the plan asks for; undefined if it was not asked. */
  readonly told?: readonly SeenEvent[];
  /** Why the objects of a built-in component must not be written yet. Undefined: they may. */
  readonly awaits?: string | undefined;
  /** Of its spec; of the restored objects, if they are. */
  readonly revision: string;
  /** Of a built-in component with its own objects: what was found and is not used, and why. */
  readonly unproven?: string | undefined;
  /** Of a built-in component that has no objects of its own, since it uses what somebody else has made, or waits for that. */
  readonly external?: ObservedExternal;
}

/** What a built-in component uses; `objects` has it, if there is one. */
export interface ObservedExternal {
  /** What is looked for. */
  readonly sought: string;
  /** Why what was found is of no use: a sentence without its subject. */
  readonly problem?: string | undefined;
  /** Set if only this object is read, since the spec or the status names it. */
  readonly named?: UsedObject | undefined;
  /** Set while a found object has time to start, before the operator deploys its own: a message for users. */
  readonly awaited?: string;
  /** Of a server. */
  readonly asked?: AskedServer;
  /** Of a program on the nodes that no object shows. */
  readonly listening?: ListeningNodes;
}

/** On which nodes a program listens. */
export interface ListeningNodes {
  readonly port: number;
  /** How many nodes were asked. */
  readonly asked: number;
  /** Names of those that answered as expected, sorted. */
  readonly answering: readonly string[];
}

/** A server of somebody else that the operator asks. */
export interface AskedServer {
  readonly url: string;
  /** What it has if there is no problem, such as `series of node-exporter`. */
  readonly series: string;
}

/** An object whose Events may say why pods are not available. */
export interface Question {
  readonly namespace: string;
  readonly uid: string;
}

/** What an Event says. */
export interface SeenEvent {
  readonly isWarning: boolean;
  readonly reason: string;
  readonly message: string;
  /** When it was seen last, ms since 1970. */
  readonly at: number;
}

/** What a query says. */
export type Verdict =
  | { readonly is: 'True' }
  /** @property message what it gives */
  | { readonly is: 'False'; readonly message: string }
  /**
   * @property message why there is no answer
   * @property isNotSent true if a setting keeps the query from being sent: nothing is known about what it asks
   */
  | { readonly is: 'Unknown'; readonly message: string; readonly isNotSent?: true };

/** The last answer to a query. Times are those of the monotonic clock of this process, ms. */
export type Answer =
  /**
   * It is not asked yet.
   *
   * @property since of an answer that does not count, since its query was sent before this time
   */
  | { readonly is: 'Pending'; readonly since?: number }
  /** @property askedAt when its query was sent */
  | (Verdict & { readonly askedAt: number });

/** A query whose last answer does not count. */
export interface AskAgain {
  readonly query: string;
  /** When it has to be sent at the earliest. Infinity: later than now. */
  readonly since: number;
}

/** What is seen of components now, by name. */
export interface Facts {
  /** Those whose pods are available. */
  readonly available: ReadonlyMap<string, string>;
  /** State and revision of those that are not being changed. */
  readonly settled: ReadonlyMap<string, string>;
  /** Those that wait for a found object to start. */
  readonly awaiting: ReadonlyMap<string, string>;
}

/** What is seen of a component, and since when. */
export interface Sighting {
  readonly as: string;
  /** By the monotonic clock of this process, ms. */
  readonly at: number;
}

/** Facts with their times, as of the reconcile before. */
export type Seen = { readonly [K in keyof Facts]: ReadonlyMap<string, Sighting> };

/** An object of the inventory that exists, and that its component does not have any more. */
export interface LeftObject {
  readonly component: string;
  readonly resource: Resource;
  readonly live: KubeObject;
}

/** A query that must be true before a component that exists is changed. */
export interface Gate {
  readonly query: string;
  readonly answer: Answer;
}

/** What a reconcile sees of a stack. */
export interface Observation {
  readonly stack: TrafficStack;
  /** In the order of their dependencies. Empty if the stack is being deleted. */
  readonly components: readonly ObservedComponent[];
  readonly left: readonly LeftObject[];
  /** The same, which the operator may not delete. Only a stack that is being deleted has some: another one is refused. */
  readonly locked?: readonly LeftObject[];
  /** The part of the inventory that this process may not read, such as TrafficWeights without --weights. */
  readonly unread?: readonly InventoryEntry[];
  /** Undefined if the stack has none. */
  readonly gate?: Gate | undefined;
  /** Since when its components are what they are. Undefined: this process sees them for the first time. */
  readonly seen?: Seen | undefined;
  /** The pods of components of the inventory that workloads of their entries made, without components that have none. */
  readonly withPods: ReadonlyMap<string, readonly StackPod[]>;
  /** ms since 1970 */
  readonly now: number;
}
