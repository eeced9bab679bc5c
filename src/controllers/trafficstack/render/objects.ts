import type { V1DeploymentStrategy, V1OwnerReference, V1Service } from '@kubernetes/client-node';
import {
  TRAFFIC_STACKS,
  type CommonSpec,
  type HighAvailabilitySpec,
  type StackService,
  type TrafficStack,
  type WorkloadComponent,
} from '../../../api/trafficstack/trafficStack.ts';
import { APPLIED_HASH_ANNOTATION } from '../../../runtime/apply/difference.ts';
import { apiVersionOf, type KubeObject, type ObjectRef, type Resource } from '../../../runtime/client/resource.ts';
import { isOwnedBy } from '../../../runtime/objectSet/objectSet.ts';
import { MANAGED_BY, OPERATOR, OWNER } from '../../contract/labels.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../names.ts';
import { serviceNameOf } from './facts.ts';
import type { Folder } from './folders.ts';
import { resourceOfKind } from './kinds.ts';
import { podTemplateOf } from './podTemplate.ts';

/** One object of a component: exactly the fields that the operator owns. */
export interface DesiredObject {
  readonly resource: Resource;
  readonly object: KubeObject;
  /** Of a built-in component: that of the controller which deploys it without a stack. Undefined: that of stacks, also for a TrafficWeight. */
  readonly fieldManager?: string | undefined;
}

/** A component with all that its stack and its dependencies decide. */
export interface ResolvedComponent {
  readonly spec: WorkloadComponent;
  /** Pods that there should be; undefined if the stack does not say. */
  readonly replicas: number | undefined;
  readonly common: CommonSpec;
  /** That of its pods. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Undefined if it is not for the component. */
  readonly availability: HighAvailabilitySpec | undefined;
  readonly folders: readonly Folder[];
}

type Metadata = NonNullable<KubeObject['metadata']>;

/**
 * The objects of a component: what the workload needs, then the workload, so that names resolve when the pods begin. If they are
 * somebody else's, only their names.
 */
export function objectsOf(stack: TrafficStack, component: ResolvedComponent): DesiredObject[] {
  return component.spec.mode === 'External' ? externalObjects(component.spec) : ownObjects(stack, component);
}

function externalObjects(spec: WorkloadComponent): DesiredObject[] {
  const { kind, namespace, services = [], name: workload = spec.name } = spec.workload;
  return [
    ...services.map((service) => desired('Service', { name: serviceNameOf(spec, service), namespace }, {})),
    desired(kind, { name: workload, namespace }, {}),
  ];
}

function ownObjects(stack: TrafficStack, component: ResolvedComponent): DesiredObject[] {
  const { spec, replicas, availability, folders } = component;
  const { namespace, services = [] } = spec.workload;
  const selector = selectorOf(stack, spec.name);
  const metadata = (name: string): Metadata => metadataOf(stack, spec.name, { name, namespace });
  const workload = spec.workload.name ?? spec.name;
  const isSpread = availability !== undefined && (replicas ?? 0) > 1;
  return [
    ...services.map((service) =>
      desired('Service', metadata(serviceNameOf(spec, service)), { spec: serviceSpec(service, selector) }),
    ),
    ...folders.map(({ object, files }) => desired('ConfigMap', metadata(object), { data: files })),
    ...(isSpread ? [desired('PodDisruptionBudget', metadata(workload), { spec: budgetSpec(selector) })] : []),
    desired(spec.workload.kind, metadata(workload), { spec: workloadSpec(component, selector) }),
  ];
}

/** The metadata of an object of a component. */
export function metadataOf(stack: TrafficStack, component: string, ref: ObjectRef): Metadata {
  return {
    ...{ ...ref, labels: { [MANAGED_BY]: OPERATOR, ...selectorOf(stack, component) } },
    ownerReferences: [ownerReferenceOf(stack)],
  };
}

function selectorOf({ metadata }: TrafficStack, component: string): Record<string, string> {
  return { [STACK_LABEL]: metadata?.name ?? '', [COMPONENT_LABEL]: component };
}

function desired(kind: string, metadata: Metadata, content: object): DesiredObject {
  const resource = resourceOfKind(kind);
  return { resource, object: { apiVersion: apiVersionOf(resource), kind, metadata, ...content } };
}

function workloadSpec(component: ResolvedComponent, matchLabels: Record<string, string>) {
  const { spec, replicas, common, nodeSelector, availability, folders } = component;
  const { kind, podTemplate = {}, strategy, updateStrategy, minReadySeconds } = spec.workload;
  return {
    ...(replicas !== undefined && { replicas }),
    ...(kind === 'StatefulSet' && statefulSpec(spec)),
    ...(strategy && { strategy: strategyOf(strategy) }),
    ...(updateStrategy && { updateStrategy }),
    ...(minReadySeconds !== undefined && { minReadySeconds }),
    selector: { matchLabels },
    template: podTemplateOf(podTemplate, { kind, labels: matchLabels, common, nodeSelector, availability, folders }),
  };
}

/** The API server has given a Deployment numbers for rolling updates, and refuses Recreate beside them. */
function strategyOf(strategy: V1DeploymentStrategy): object {
  return strategy.type === 'Recreate' ? { ...strategy, rollingUpdate: null } : strategy;
}

function statefulSpec(spec: WorkloadComponent) {
  const { services = [], volumeClaimTemplates = [], volumeClaimPolicy = 'Retain', podManagementPolicy } = spec.workload;
  const headless = services.find((service) => service.headless === true);
  return {
    serviceName: headless ? serviceNameOf(spec, headless) : (spec.workload.name ?? spec.name),
    ...(podManagementPolicy && { podManagementPolicy }),
    ...(volumeClaimTemplates.length > 0 && {
      volumeClaimTemplates,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: volumeClaimPolicy, whenScaled: 'Retain' },
    }),
  };
}

/** One pod at a time, and one that is not ready anyway keeps no drain waiting. */
function budgetSpec(matchLabels: Record<string, string>) {
  return { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector: { matchLabels } };
}

function serviceSpec({ headless, ports }: StackService, selector: Record<string, string>) {
  return {
    // Pods that start need each other's names.
    ...(headless === true && { clusterIP: 'None', publishNotReadyAddresses: true }),
    selector,
    ports: ports.map(({ name, port, targetPort = port, protocol = 'TCP' }) => {
      return { ...(name !== undefined && { name }), port, targetPort, protocol };
    }),
  };
}

function ownerReferenceOf({ metadata }: TrafficStack): V1OwnerReference {
  const { kind } = TRAFFIC_STACKS;
  const { name = '', uid = '' } = metadata ?? {};
  return { apiVersion: apiVersionOf(TRAFFIC_STACKS), kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * Whether a live object is of the stack.
 *
 * | its controller            | the stack                                     | of the stack |
 * |---------------------------|-----------------------------------------------|--------------|
 * | is the stack              | any                                           | yes          |
 * | is somebody else          | any                                           | no           |
 * | none: somebody took the owner reference away | stays: it has applied the object, as label and hash say | yes: the next apply restores it |
 * | none                      | is being deleted: so `--cascade=orphan` leaves objects | no  |
 */
export function isOfStack(object: KubeObject, owner: TrafficStack): boolean {
  if (refersTo(object, owner)) return true;
  const { ownerReferences = [], labels, annotations } = object.metadata ?? {};
  const { metadata: stack } = owner;
  if (stack?.deletionTimestamp !== undefined || ownerReferences.some(({ controller }) => controller)) return false;
  return labels?.[STACK_LABEL] === stack?.name && annotations?.[APPLIED_HASH_ANNOTATION] !== undefined;
}

/**
 * Whether the object has an owner reference to the stack. Where the operator may not write, nothing else tells its objects from those of
 * another owner: labels and annotations can be copied.
 */
export function refersTo({ metadata }: KubeObject, { metadata: stack }: TrafficStack): boolean {
  return (metadata?.ownerReferences ?? []).some(({ uid }) => uid === stack?.uid);
}

/**
 * Whether an object exists that no write can make the desired one: the API server keeps the address of a Service, also that a headless one has
 * none (https://kubernetes.io/docs/concepts/services-networking/service/#headless-services).
 */
export function mustBeReplaced({
  resource,
  object,
  live,
}: Pick<DesiredObject, 'resource' | 'object'> & { readonly live: KubeObject | undefined }): boolean {
  if (resource.kind !== 'Service' || live === undefined) return false;
  const [desired, has] = [object, live].map((service) => (service as V1Service).spec?.clusterIP === 'None');
  return desired !== has && (object as V1Service).spec !== undefined;
}

/**
 * Whether a stack may apply a desired object.
 *
 * | what the cluster has under its name                  | of a Workload | of a built-in component |
 * |------------------------------------------------------|---------------|-------------------------|
 * | nothing                                              | yes           | yes                     |
 * | is controlled by this stack                          | yes           | yes                     |
 * | is of this operator, and nobody controls it          | no            | yes: it is adopted      |
 * | anything else, also an object of another stack       | no            | no                      |
 */
export function mayApply(
  { fieldManager, live }: Pick<DesiredObject, 'fieldManager'> & { readonly live: KubeObject | undefined },
  stack: TrafficStack,
): boolean {
  if (live === undefined || isOfStack(live, stack)) return true;
  return fieldManager !== undefined && isOwnedBy(OWNER, live);
}
