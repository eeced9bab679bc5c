import type { V1Deployment, V1Service } from '@kubernetes/client-node';
import type { ComponentType } from '../../../api/trafficstack/terms.ts';
import type { CommonSpec, ComponentSpec, TrafficStack, UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import type { BuiltIn, BuiltInObject, StandIn } from '../../contract/builtIn.ts';
import type { ComponentFacts } from './facts.ts';
import { metadataOf, type DesiredObject } from './objects.ts';

/** The built-in types that the operator deploys by itself: it has the rights to write their objects by their names, in any namespace. */
function ownBuiltIns(builtIns: readonly BuiltIn[]): readonly BuiltIn[] {
  return builtIns.filter(({ fieldManager }) => fieldManager !== undefined);
}

/** See ownBuiltIns. */
export function ownTypesOf(builtIns: readonly BuiltIn[]): ReadonlySet<ComponentType> {
  return new Set(ownBuiltIns(builtIns).map(({ type }) => type));
}

/** The objects of these types with the settings of the flags: only kind, namespace and name matter. */
export function objectsByName(builtIns: readonly BuiltIn[]): readonly BuiltInObject[] {
  return ownBuiltIns(builtIns).flatMap((each) => each.render({ name: each.type, type: each.type, ...each.settings }));
}

/** Of a URL without one. */
const HTTP_PORT = 80;

/** The objects of a built-in component, or what is wrong with it: a sentence. */
export type RenderedBuiltIn =
  | {
      readonly objects: readonly DesiredObject[];
      readonly facts: ComponentFacts;
      /** The same, whatever is used in place of its objects: that is no change of the spec of a component that depends on it. */
      readonly asked: ComponentFacts;
      /** What it may use in place of its objects. */
      readonly standIn?: StandIn | undefined;
      readonly waitsFor?: BuiltIn['waitsFor'];
    }
  | { readonly problem: string };

/** The servers of another owner that built-in components use, by the name of the component. */
export type UsedServers = ReadonlyMap<string, UsedObject>;

/**
 * Renders a built-in component. The labels and the owner reference of the stack are on the objects alone: on a pod template or a
 * selector, the adoption of an object would replace its pods. With the mode External, it has no objects.
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
  const standIn = spec.mode === 'External' || spec.mode === 'Auto' ? builtIn.standIn?.(spec) : undefined;
  const { waitsFor } = builtIn;
  if (standIn === undefined) return { objects, facts, asked: facts, ...(waitsFor && { waitsFor }) };
  const asked = withoutService(facts);
  return {
    objects: spec.mode === 'External' ? [] : objects,
    facts: standIn.probe === undefined ? asked : factsOfServer(facts, used.get(spec.name)),
    ...{ asked, standIn },
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
 * The address and the port of the server that is used. Until one is found, and while the component has its own, those of its own Service:
 * what depends on the component is not applied before it is ready. A file names a port as the own Service does, since the Service of another
 * owner may have any names.
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

/** What runs on the nodes has no Service of another owner. */
function withoutService({ name, namespace, port, ports }: ComponentFacts): ComponentFacts {
  return { name, namespace, addresses: [], ...(port !== undefined && { port }), ports };
}

/** As for a Workload: the address and the ports are those of its Service. */
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
