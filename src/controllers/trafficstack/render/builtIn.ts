import type { V1Deployment, V1Service } from '@kubernetes/client-node';
import type { ComponentSpec, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { BuiltIn, BuiltInObject, StandIn } from '../../contract/builtIn.ts';
import type { ComponentFacts } from './facts.ts';
import { metadataOf, type DesiredObject } from './objects.ts';

/** The objects of a built-in component, or what is wrong with it: a sentence. */
export type RenderedBuiltIn =
  | {
      readonly objects: readonly DesiredObject[];
      readonly facts: ComponentFacts;
      /** What it may use in place of its objects. */
      readonly standIn?: StandIn | undefined;
    }
  | { readonly problem: string };

/**
 * Renders a built-in component. The labels and the owner reference of the stack are on the objects alone: on a pod template or a
 * selector, the adoption of an object would replace its pods. With the mode External, it has no objects.
 */
export function renderBuiltIn(stack: TrafficStack, spec: ComponentSpec, builtIns: readonly BuiltIn[]): RenderedBuiltIn {
  const builtIn = builtIns.find(({ type }) => type === spec.type);
  const problem = builtIn === undefined ? `this operator has no type ${spec.type}` : builtIn.problem;
  if (builtIn === undefined || problem !== undefined) return { problem: `component ${spec.name}: ${problem}` };
  const { fieldManager } = builtIn;
  const objects = builtIn.render(spec).map((each) => ({ ...ofStack(stack, spec.name, each), fieldManager }));
  const facts = factsOf(spec.name, objects);
  const standIn = spec.mode === 'External' || spec.mode === 'Auto' ? builtIn.standIn?.(spec) : undefined;
  if (standIn === undefined) return { objects, facts };
  return { objects: spec.mode === 'External' ? [] : objects, facts: withoutService(facts), standIn };
}

function ofStack(stack: TrafficStack, component: string, { resource, object }: BuiltInObject): DesiredObject {
  const { name = '', namespace, labels } = object.metadata ?? {};
  const own = metadataOf(stack, component, { name, ...(namespace !== undefined && { namespace }) });
  return {
    resource,
    object: { ...object, metadata: { ...object.metadata, ...own, labels: { ...labels, ...own.labels } } },
  };
}

/** Of one that may be somebody else's, where it is found is not known when files are rendered. */
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
