import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { Condition } from '../../runtime/controller/conditions.ts';

/**
 * API group of the Gateway API. The types below hold the fields of gateway.networking.k8s.io/v1 that are read here
 * (https://gateway-api.sigs.k8s.io/reference/spec/), because client-node has no types for it.
 */
const GROUP = 'gateway.networking.k8s.io';

export interface ParentReference {
  group?: string;
  kind?: string;
  namespace?: string;
  name: string;
  sectionName?: string;
  port?: number;
}

export interface BackendReference {
  group?: string;
  kind?: string;
  namespace?: string;
  name: string;
  /** Default: 1. */
  weight?: number;
}

export interface HttpRoute extends KubeObject {
  spec?: {
    parentRefs?: ParentReference[];
    hostnames?: string[];
    rules?: { backendRefs?: BackendReference[]; filters?: { type: string }[] }[];
  };
  status?: {
    parents?: { parentRef: ParentReference; conditions?: Condition[] }[];
  };
}

/** A metav1.LabelSelector. */
export interface NamespaceSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export interface Listener {
  name: string;
  hostname?: string;
  port: number;
  protocol?: string;
  allowedRoutes?: {
    /** Default of `from`: Same. `selector` is read with Selector only. */
    namespaces?: { from?: string; selector?: NamespaceSelector };
    /** Absent or empty: the kinds that the protocol allows. */
    kinds?: { group?: string; kind: string }[];
  };
}

export interface Gateway extends KubeObject {
  spec?: {
    gatewayClassName?: string;
    listeners?: Listener[];
    /** The ListenerSets that it takes. Default of `from`: None. */
    allowedListeners?: { namespaces?: { from?: string; selector?: NamespaceSelector } };
  };
  status?: { addresses?: { type?: string; value: string }[] };
}

/** Further listeners of a Gateway, also of another namespace: since release 1.5 of the Gateway API. */
export interface ListenerSet extends KubeObject {
  spec?: { parentRef?: ParentReference; listeners?: Listener[] };
}

export const LISTENER_SETS: Resource<ListenerSet> = {
  ...{ group: GROUP, version: 'v1', kind: 'ListenerSet', plural: 'listenersets', namespaced: true },
};
export const HTTP_ROUTES: Resource<HttpRoute> = {
  ...{ group: GROUP, version: 'v1', kind: 'HTTPRoute', plural: 'httproutes', namespaced: true },
};
export const GATEWAYS: Resource<Gateway> = {
  ...{ group: GROUP, version: 'v1', kind: 'Gateway', plural: 'gateways', namespaced: true },
};

/** Returns whether a kind of routes that a listener names is HTTPRoute. */
export function isHttpRoute({ group = GROUP, kind }: { readonly group?: string; readonly kind: string }): boolean {
  return group === GROUP && kind === HTTP_ROUTES.kind;
}

/** Returns whether a reference is to a Gateway, which is the default. */
export function isToGateway({ group = GROUP, kind = GATEWAYS.kind }: ParentReference): boolean {
  return group === GROUP && kind === GATEWAYS.kind;
}

/** The experimental API group, in which ListenerSets were XListenerSets before release 1.5 of the Gateway API. */
const EXPERIMENTAL_GROUP = 'gateway.networking.x-k8s.io';

/** Returns whether a reference is to a ListenerSet: https://gateway-api.sigs.k8s.io/reference/api-types/listenerset/ */
export function isToListenerSet({ group = GROUP, kind }: ParentReference): boolean {
  if (group === EXPERIMENTAL_GROUP) return kind === 'XListenerSet';
  return group === GROUP && kind === LISTENER_SETS.kind;
}
