import type { V1Deployment, V1Service } from '@kubernetes/client-node';
import type { ComponentType } from '../../../api/trafficstack/terms.ts';
import type { CommonSpec, ComponentSpec, TrafficStack, UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import type { BuiltIn, BuiltInObject, ExternalProvider } from '../../contract/builtIn.ts';
import type { ComponentFacts } from './facts.ts';
import { metadataOf, type DesiredObject } from './objects.ts';

/** Returns the built-in types that the operator deploys by itself. It has rights on their objects by name, in any namespace. */
function ownBuiltIns(builtIns: readonly BuiltIn[]): readonly BuiltIn[] {
  return builtIns.filter(({ fieldManager }) => fieldManager !== undefined);
}

/** Returns the built-in types that the operator deploys by itself. */
export function ownTypesOf(builtIns: readonly BuiltIn[]): ReadonlySet<ComponentType> {
  return new Set(ownBuiltIns(builtIns).map(({ type }) => type));
}

/** Returns the objects of these types with the settings of the flags. Only kind, namespace and name matter. */
export function objectsByName(builtIns: readonly BuiltIn[]): readonly BuiltInObject[] {
  return ownBuiltIns(builtIns).flatMap((each) => each.render({ name: each.type, type: each.type, ...each.settings }));
}

/** The port of a URL without one. */
const HTTP_PORT = 80;

/** The objects of a built-in component, or its problem: a sentence. */
type RenderedBuiltIn =
  | {
      readonly objects: readonly DesiredObject[];
      readonly facts: ComponentFacts;
      /** Facts that do not depend on the used external object. They are part of the revision of dependents. */
      readonly stableFacts: ComponentFacts;
      /** The external object that it may use. */
      readonly externalProvider?: ExternalProvider | undefined;
      readonly waitsFor?: BuiltIn['waitsFor'];
    }
  | { readonly problem: string };

/** The servers of other owners that built-in components use, by the name of the component. */
export type UsedServers = ReadonlyMap<string, UsedObject>;

/**
 * Renders a built-in component. Only the objects have the labels and the owner reference of the stack: on a pod template or a selector, an adoption
 * would replace the pods. With the mode External, there are no objects.
 */
export function renderBuiltIn(
  stack: TrafficStack,
  spec: ComponentSpec,
  {
    common,
    builtIns,
    used,
  }: { readonly common: CommonSpec; readonly builtIns: readonly BuiltIn[]; readonly used: UsedServers },
): RenderedBuiltIn {
  const builtIn = builtIns.find(({ type }) => type === spec.type);
  const problem = builtIn === undefined ? `this operator has no type ${spec.type}` : builtIn.problem;
  const wrong = problem ?? (spec.mode === 'External' ? undefined : builtIn?.problemOf?.(spec));
  if (builtIn === undefined || wrong !== undefined) return { problem: `component ${spec.name}: ${wrong}` };
  const { fieldManager } = builtIn;
  const objects = builtIn.render(spec, common).map((each) => ({ ...ofStack(stack, spec.name, each), fieldManager }));
  const facts = factsOf(spec.name, objects);
  const externalProvider =
    spec.mode === 'External' || spec.mode === 'Auto' ? builtIn.externalProvider?.(spec) : undefined;
  const { waitsFor } = builtIn;
  if (externalProvider === undefined) return { objects, facts, stableFacts: facts, ...(waitsFor && { waitsFor }) };
  const stableFacts = withoutService(facts);
  return {
    objects: spec.mode === 'External' ? [] : objects,
    facts: externalProvider.probe === undefined ? stableFacts : factsOfServer(facts, used.get(spec.name)),
    ...{ stableFacts, externalProvider },
  };
}

function ofStack(stack: TrafficStack, component: string, { resource, object }: BuiltInObject): DesiredObject {
  const { name = '', namespace, labels } = object.metadata ?? {};
  const own = metadataOf(stack, component, { name, ...(namespace !== undefined && { namespace }) });
  return {
    resource,
    object: { ...object, metadata: { ...object.metadata, ...own, labels: { ...labels, ...own.labels } } },
  };
}

/**
 * Returns the address and the port of the used server, or of the own Service until one is found: dependents are not applied before the
 * component is ready. Ports have the names of the own Service, because another owner may choose any names.
 */
function factsOfServer(own: ComponentFacts, used: UsedObject | undefined): ComponentFacts {
  if (used?.url === undefined) return own;
  const { hostname, port: text } = new URL(used.url);
  const port = text === '' ? HTTP_PORT : Number(text);
  return {
    ...{ name: own.name, namespace: used.namespace, service: hostname, addresses: [hostname], port },
    ports: Object.fromEntries(Object.keys(own.ports).map((name) => [name, port])),
  };
}

/** Removes the Service: a program on the nodes has none. */
function withoutService({ name, namespace, port, ports }: ComponentFacts): ComponentFacts {
  return { name, namespace, addresses: [], ...(port !== undefined && { port }), ports };
}

/** Returns the facts of a built-in component: the address and the ports of its Service. */
function factsOf(name: string, objects: readonly DesiredObject[]): ComponentFacts {
  const service: V1Service | undefined = objects.find(({ resource }) => resource.kind === 'Service')?.object;
  const workload: V1Deployment | undefined = objects.at(-1)?.object;
  const { namespace = '' } = workload?.metadata ?? {};
  const replicas = workload?.spec?.replicas;
  const host = service && `${service.metadata?.name}.${namespace}.svc`;
  const ports = service?.spec?.ports ?? [];
  return {
    ...{ name, namespace },
    ...(replicas !== undefined && { replicas }),
    ...(host !== undefined && { service: host }),
    addresses: host === undefined ? [] : [host],
    ...(ports[0] !== undefined && { port: ports[0].port }),
    ports: Object.fromEntries(ports.flatMap((port) => (port.name === undefined ? [] : [[port.name, port.port]]))),
  };
}
