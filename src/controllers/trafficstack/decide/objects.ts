import type { V1OwnerReference, V1PodTemplateSpec } from '@kubernetes/client-node';
import {
  TRAFFIC_STACKS,
  type ComponentSpec,
  type StackService,
  type TrafficStack,
} from '../../../api/trafficstack/trafficStack.ts';
import { apiVersionOf, type KubeObject, type Resource } from '../../../runtime/client/resource.ts';
import { idOf } from '../../../runtime/objectSet/member.ts';
import { MANAGED_BY, OPERATOR } from '../../contract/labels.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../names.ts';
import { resourceOfKind } from './kinds.ts';

/** One object of a component: exactly the fields that the operator owns. */
export interface DesiredObject {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** The objects of a component: its Services, then its workload, so that names resolve when the pods begin. */
export function objectsOf(stack: TrafficStack, component: ComponentSpec): DesiredObject[] {
  const selector = selectorOf(stack, component);
  const { namespace, services = [] } = component.workload;
  const metadata = (name: string) => ({
    name,
    namespace,
    labels: { [MANAGED_BY]: OPERATOR, ...selector },
    ownerReferences: [ownerReferenceOf(stack)],
  });
  return [
    ...services.map((service) => ({
      resource: resourceOfKind('Service'),
      object: {
        ...{ apiVersion: 'v1', kind: 'Service' },
        metadata: metadata(service.name ?? workloadName(component)),
        spec: serviceSpec(service, selector),
      },
    })),
    workloadOf(component, metadata(workloadName(component)), selector),
  ];
}

function workloadName({ name, workload }: ComponentSpec): string {
  return workload.name ?? name;
}

function workloadOf(
  { workload }: ComponentSpec,
  metadata: NonNullable<KubeObject['metadata']>,
  matchLabels: Record<string, string>,
): DesiredObject {
  const resource = resourceOfKind(workload.kind);
  const { replicas, podTemplate, services = [] } = workload;
  const headless = services.find((service) => service.headless === true);
  const spec = {
    ...(replicas !== undefined && { replicas }),
    ...(workload.kind === 'StatefulSet' && { serviceName: headless?.name ?? metadata.name }),
    selector: { matchLabels },
    template: withLabels(podTemplate, matchLabels),
  };
  return {
    resource,
    object: { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, spec } as KubeObject,
  };
}

function withLabels(template: V1PodTemplateSpec, labels: Record<string, string>): V1PodTemplateSpec {
  return { ...template, metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...labels } } };
}

function serviceSpec({ headless, ports }: StackService, selector: Record<string, string>) {
  return {
    // Pods that start need each other's names.
    ...(headless === true && { clusterIP: 'None', publishNotReadyAddresses: true }),
    selector,
    ports: ports.map(({ name, port, targetPort = port }) => {
      return { ...(name !== undefined && { name }), port, targetPort, protocol: 'TCP' };
    }),
  };
}

function selectorOf({ metadata }: TrafficStack, { name }: ComponentSpec): Record<string, string> {
  return { [STACK_LABEL]: metadata?.name ?? '', [COMPONENT_LABEL]: name };
}

function ownerReferenceOf({ metadata }: TrafficStack): V1OwnerReference {
  const { kind } = TRAFFIC_STACKS;
  const { name = '', uid = '' } = metadata ?? {};
  return { apiVersion: apiVersionOf(TRAFFIC_STACKS), kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Whether the stack controls a live object. */
export function isOfStack({ metadata }: KubeObject, stack: TrafficStack): boolean {
  return metadata?.ownerReferences?.some(({ uid }) => uid === stack.metadata?.uid) ?? false;
}

/** Objects that two components have, or one has twice: one sentence each. */
export function duplicatesIn(stack: TrafficStack, components: readonly ComponentSpec[]): string[] {
  const all = components.flatMap((component) =>
    objectsOf(stack, component).map((each) => ({ of: component.name, id: idOf(each) })),
  );
  return [...Map.groupBy(all, ({ id }) => id)].flatMap(([id, [first, second]]) =>
    first !== undefined && second !== undefined ? [`${id} is of ${first.of} and of ${second.of}`] : [],
  );
}
