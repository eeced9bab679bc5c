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

/** An object of another owner that may replace the workload of a built-in component. Its name is unknown, so its content decides. */
export interface ExternalProvider {
  readonly resource: Resource;
  /** A description of the searched object, such as `a DaemonSet with hostNetwork and the port 9100`. */
  readonly sought: string;
  /** @param used the types for which the stack uses an external object */
  matches(live: KubeObject, used: ReadonlySet<ComponentType>): boolean;
  /** Returns false for objects that match with no settings: only their names are kept in memory. Default: any may match. */
  readonly mayMatch?: (live: KubeObject) => boolean;
  /** The nodes on which an own workload would run: the proof counts no others. Undefined: all nodes. */
  readonly placement?: NodePlacement;
  /** The namespaces in which it may be. Undefined or empty: any. */
  readonly namespaces?: readonly string[];
  /** Returns how far a matching object replaces the component. Undefined: every matching object does. */
  readonly proof?: (live: KubeObject, cluster: ProofContext) => Proof;
  /** Why a named object that does not match is unusable: a sentence without its subject. Default: it is not what is sought. */
  readonly mismatch?: string;
  /** Returns why a matching object is unusable: a sentence without its subject. */
  problem(live: KubeObject, used: ReadonlySet<ComponentType>): string | undefined;
  /** The probe of a Prometheus. Undefined: a matching object is usable without a probe. */
  readonly probe?: ProviderProbe;
  /** A usable program on the nodes that no matching object runs. Undefined: none. */
  readonly listener?: ProviderListener;
}

/** The inputs of a proof besides the object. */
export interface ProofContext {
  /** The number of nodes that can be measured, and on which an own workload would run. */
  readonly nodes: number;
  /** ms since 1970 */
  readonly now: number;
}

/** How far a found object measures the nodes. An object that only looks like a node-exporter must not keep the operator from measuring. */
export type Proof =
  /** It measures most nodes. */
  | { readonly is: 'Proven' }
  /**
   * | Starting | its pods are on most nodes, or about to be, and not Ready                       |
   * | Few      | it measures some nodes: only an object that is already used stays in use          |
   * | Unproven | it measures none                                                                  |
   *
   * @property lack a sentence without its subject
   */
  | { readonly is: 'Starting' | 'Few' | 'Unproven'; readonly lack: string };

/** Returns whether a count is more than half of the nodes. An own node-exporter could measure only the other, fewer nodes, since the port is taken. */
export function isMost(count: number, nodes: number): boolean {
  return count > nodes / 2;
}

/** A program that answers on a port of the nodes, whatever runs it, such as systemd. */
export interface ProviderListener {
  readonly port: number;
  /** Path and query of a GET over HTTP. */
  readonly path: string;
  /** Text that its answer has. */
  readonly contains: string;
  /** Selects the operator's own pods, which also listen on the port. */
  readonly ownPods: string;
}

/** The query of a usable Prometheus: it has series of most measurable nodes. */
export interface ProviderProbe {
  /** Label selectors, one of which matches its Service. */
  readonly selectors: readonly string[];
  /** Returns the URL that is queried. */
  urlOf(live: KubeObject): string;
  /** The metric of the series. Its label `node` or `instance` names the node. */
  readonly metric: string;
  /** A description of the series, such as `series of node-exporter`. */
  readonly series: string;
}

/** The field with the settings of its type. */
export type BuiltInSettings = Pick<
  ComponentSpec,
  'nodeExporter' | 'prometheus' | 'connectivityServer' | 'connectivityAgents'
>;

/** A type of component of TrafficStacks whose objects a controller renders. A stack adopts existing objects of the controller. */
export interface BuiltIn {
  readonly type: BuiltInType;
  /**
   * The field manager of the controller, with which a stack replaces earlier applies of the controller. Undefined: the stack uses its own field manager,
   * and adopts no objects.
   */
  readonly fieldManager?: string | undefined;
  /** True if the flags deploy it while no stack names it. */
  readonly isDeployed: boolean;
  /** The reason why no stack may have it in this process: a part of a sentence. */
  readonly problem?: string | undefined;
  /** Returns why settings of a component conflict with the flags: a sentence. */
  readonly problemOf?: (component: ComponentSpec) => string | undefined;
  /** The settings of the flags, which the operator writes to the stack `default`, so that it shows what runs. Undefined: none. */
  readonly settings?: BuiltInSettings | undefined;
  /**
   * Renders the objects with the settings of a component. The objects with a readiness come last.
   *
   * @param common defaults of the stack, which precede the flags
   */
  render(component: ComponentSpec, common?: CommonSpec): readonly BuiltInObject[];
  /** Returns why its objects must not be written yet. Undefined if they may. Never rejects. Default: they may. */
  readonly waitsFor?: (() => Promise<string | undefined>) | undefined;
  /** For the modes External and Auto. Undefined: the type has neither. */
  readonly externalProvider?: (component: ComponentSpec) => ExternalProvider;
}

/** Returns the objects of a group of a controller, as a stack has them. */
export function objectsOf<G extends string>(group: G, members: readonly Member<G>[]): BuiltInObject[] {
  return members.filter((each) => each.group === group).map(({ resource, object }) => ({ resource, object }));
}

/** Returns the defined settings of a component. The flags decide about the others. */
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

/** Returns the placement of the flags as settings of a component, without empty fields, which would replace the fields of the stack. */
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

/** Returns the names of the pull secrets of the stack, or else of the flags. */
export function pullSecretsOf({ imagePullSecrets }: CommonSpec, ofFlags: readonly string[]): readonly string[] {
  return imagePullSecrets?.map(({ name }) => name) ?? ofFlags;
}
