import type { V1Toleration } from '@kubernetes/client-node';
import type { BuiltInType, ComponentType } from '../../api/trafficstack/terms.ts';
import type { CommonSpec, ComponentSpec, PrometheusSpec } from '../../api/trafficstack/trafficStack.ts';
import type { Placement as NodePlacement } from '../../nodes/nodeAffinity.ts';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { Member } from '../../runtime/objectSet/objectSet.ts';

/** One object of a built-in component: exactly the fields that the operator owns. */
export interface BuiltInObject {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/**
 * What somebody else may have made in place of the workload of a built-in component. It has a name of its own, so it is looked for by
 * what it does.
 */
export interface StandIn {
  readonly resource: Resource;
  /** What is looked for, such as `a DaemonSet with hostNetwork and the port 9100`. */
  readonly sought: string;
  /** @param used the types of which the stack uses what somebody else has made */
  matches(live: KubeObject, used: ReadonlySet<ComponentType>): boolean;
  /**
   * False for objects that never match, whatever the settings of a component are: of these, only the name is kept in memory. Default: any
   * may match.
   */
  readonly mayMatch?: (live: KubeObject) => boolean;
  /** The nodes on which an own workload would run: the proof counts no others. Undefined: all nodes. */
  readonly placement?: NodePlacement;
  /** The namespaces in which it may be. Undefined or empty: any. */
  readonly namespaces?: readonly string[];
  /**
   * How far one that matches does what the component is for, as its object shows. Undefined: what matches counts.
   */
  readonly proof?: (live: KubeObject, cluster: ProofContext) => Proof;
  /** Why one that does not match is of no use, if it is named: a sentence without its subject. Default: it is not what is sought. */
  readonly mismatch?: string;
  /** Why one that matches is of no use, as its object shows: a sentence without its subject. */
  problem(live: KubeObject, used: ReadonlySet<ComponentType>): string | undefined;
  /** For a Prometheus. Undefined: what matches is of use without being asked. */
  readonly probe?: StandInProbe;
  /** What is of use although no object that matches runs it. Undefined: nothing. */
  readonly listener?: StandInListener;
}

/** What decides with an object how far it measures the nodes. */
export interface ProofContext {
  /** The number of nodes that can be measured, and on which an own workload would run. */
  readonly nodes: number;
  /** ms since 1970 */
  readonly now: number;
}

/**
 * How far something that was found measures the nodes. What merely looks like a node-exporter, such as a DaemonSet without pods, must not keep
 * the operator from measuring.
 */
export type Proof =
  /** It measures most nodes. */
  | { readonly is: 'Proven' }
  /**
   * | Starting | its pods are on most nodes, or about to be, and not Ready                       |
   * | Few      | it measures some nodes: what is used already goes on to be, and nothing else is   |
   * | Unproven | it measures none                                                                  |
   *
   * @property lack a sentence without its subject
   */
  | { readonly is: 'Starting' | 'Few' | 'Unproven'; readonly lack: string };

/**
 * Whether something is on so many nodes that the operator does without its own: more than half. It has a port of these nodes, so an own
 * node-exporter could measure only the others, which are fewer.
 */
export function isMost(count: number, nodes: number): boolean {
  return count > nodes / 2;
}

/** A program that answers on a port of the nodes, whatever runs it, such as systemd. */
export interface StandInListener {
  readonly port: number;
  /** Path and query of a GET over HTTP. */
  readonly path: string;
  /** Text that its answer has. */
  readonly contains: string;
  /** Selects the operator's own pods, which listen on the port, too. */
  readonly ownPods: string;
}

/** What a Prometheus must answer to be of use: series of most nodes that can be measured. */
export interface StandInProbe {
  /** Selectors of the labels of its Service: it has those of one of them. */
  readonly selectors: readonly string[];
  /** Where it is asked. */
  urlOf(live: KubeObject): string;
  /** The metric that it must have series of, with labels that name the node: `node` or `instance`. */
  readonly metric: string;
  /** What it has if it does, such as `series of node-exporter`. */
  readonly series: string;
}

/** The field with the settings of its type. */
export type BuiltInSettings = Pick<
  ComponentSpec,
  'nodeExporter' | 'prometheus' | 'connectivityServer' | 'connectivityAgents'
>;

/**
 * A type of component of TrafficStacks whose objects a controller knows. One that it deploys itself while no stack names it: a stack
 * that does gets the same objects, and adopts those that exist.
 */
export interface BuiltIn {
  readonly type: BuiltInType;
  /**
   * That of the controller. An apply by the stack with it replaces what the controller applied. Undefined: no controller applies the
   * objects itself, so the stack does with its own, and adopts none.
   */
  readonly fieldManager?: string | undefined;
  /** Whether the controller deploys it while no stack names it: as the flags say. */
  readonly isDeployed: boolean;
  /** Why no stack may have it in this process: a part of a sentence. */
  readonly problem?: string | undefined;
  /** What is wrong with the settings of a component beside the flags: a sentence. */
  readonly problemOf?: (component: ComponentSpec) => string | undefined;
  /**
   * What the flags say, with which the operator writes the stack `default`: so it says what runs, also once people have changed it, whatever
   * the flags become. Undefined: none.
   */
  readonly settings?: BuiltInSettings | undefined;
  /**
   * The objects with the settings of a component, as the controller itself would apply them; those that tell whether it is ready are the
   * last ones.
   *
   * @param common that of the stack: for what the settings do not say, before the flags
   */
  render(component: ComponentSpec, common?: CommonSpec): readonly BuiltInObject[];
  /** Why its objects must not be written yet, although the settings are right; undefined if they may. Never rejects. Default: they may. */
  readonly waitsFor?: (() => Promise<string | undefined>) | undefined;
  /** For the modes External and Auto. Undefined: the type has neither. */
  readonly standIn?: (component: ComponentSpec) => StandIn;
}

/** The objects of a group of a controller, as a stack has them. */
export function objectsOf<G extends string>(group: G, members: readonly Member<G>[]): BuiltInObject[] {
  return members.filter((each) => each.group === group).map(({ resource, object }) => ({ resource, object }));
}

/** The settings of a component that are there; the flags say the others. */
export function given<T extends object>(settings: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** Where pods run, and their priority. */
interface Placement {
  readonly priorityClassName: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly V1Toleration[];
}

/** The placement of the flags, as settings of a component. What is empty is left out: it would replace what is common to the stack. */
export function placementIn({
  priorityClassName,
  nodeSelector = {},
  tolerations = [],
}: Placement): Pick<PrometheusSpec, 'priorityClassName' | 'nodeSelector' | 'tolerations'> {
  return {
    ...(priorityClassName !== '' && { priorityClassName }),
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector: { ...nodeSelector } }),
    ...(tolerations.length > 0 && { tolerations: [...tolerations] }),
  };
}

/** The names of the pull secrets: those of the stack, or else those of the flags. */
export function pullSecretsOf({ imagePullSecrets }: CommonSpec, ofFlags: readonly string[]): readonly string[] {
  return imagePullSecrets?.map(({ name }) => name) ?? ofFlags;
}
