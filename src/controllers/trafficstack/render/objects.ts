import type {
  V1DeploymentStrategy,
  V1OwnerReference,
  V1Service,
  V1Container,
  V1PodSpec,
  V1PodTemplateSpec,
  V1TopologySpreadConstraint,
} from '@kubernetes/client-node';
import { DEFAULT_TOPOLOGY_KEY, type WorkloadKind } from '../../../api/trafficstack/terms.ts';
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
import { COMPONENT_LABEL, MANIFEST_HASH, STACK_LABEL } from '../names.ts';
import { serviceNameOf } from './facts.ts';
import type { Folder } from './folders.ts';
import { resourceOfKind } from './kinds.ts';

/** One object of a component: exactly the fields that the operator owns. */
export interface DesiredObject {
  readonly resource: Resource;
  readonly object: KubeObject;
  /** The field manager of the controller that deployed the object before. Undefined: FIELD_MANAGER. */
  readonly fieldManager?: string | undefined;
  /** CEL over the live object, of the type Objects. */
  readonly readyWhen?: string | undefined;
}

/** A component with all settings of its stack. */
interface ResolvedComponent {
  readonly spec: WorkloadComponent;
  /** The number of pods; undefined if the stack does not set it. */
  readonly replicas: number | undefined;
  readonly common: CommonSpec;
  /** The node selector of the pods. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Undefined if it does not apply to the component. */
  readonly availability: HighAvailabilitySpec | undefined;
  readonly folders: readonly Folder[];
}

type Metadata = NonNullable<KubeObject['metadata']>;

/**
 * Returns the objects of a component. The workload comes last, so that names resolve when its pods start. With the mode External, the objects have
 * only names.
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

/** Returns the metadata of an object of a component. */
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

/** The API server has given a Deployment numbers for rolling updates, and refuses Recreate together with them. */
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

/** Allows one disruption at a time. A pod that is not ready does not block a drain. */
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
 * Returns whether a live object belongs to the stack.
 *
 * | its controller            | the stack                                     | of the stack |
 * |---------------------------|-----------------------------------------------|--------------|
 * | is the stack              | any                                           | yes          |
 * | is another owner          | any                                           | no           |
 * | none: the owner reference was removed | exists, and has applied the object, as label and hash say | yes: the next apply restores it |
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
 * Returns whether an object has an owner reference to the stack. Labels and annotations can be copied, so this alone counts where the operator may
 * not write.
 */
export function refersTo({ metadata }: KubeObject, { metadata: stack }: TrafficStack): boolean {
  return (metadata?.ownerReferences ?? []).some(({ uid }) => uid === stack?.uid);
}

/**
 * Returns whether an object exists that no write can turn into the desired one: the API server keeps the address of a Service, also that a headless one has
 * none (https://kubernetes.io/docs/concepts/services-networking/service/#headless-services). A Job cannot be changed, and a changed manifest is to run.
 */
export function mustBeReplaced({
  resource,
  object,
  live,
}: Pick<DesiredObject, 'resource' | 'object'> & { readonly live: KubeObject | undefined }): boolean {
  if (live === undefined) return false;
  const [manifest, applied] = [object, live].map(({ metadata }) => metadata?.annotations?.[MANIFEST_HASH]);
  if (manifest !== undefined && applied !== undefined) return manifest !== applied;
  if (resource.kind !== 'Service') return false;
  const [desired, has] = [object, live].map((service) => (service as V1Service).spec?.clusterIP === 'None');
  return desired !== has && (object as V1Service).spec !== undefined;
}

/**
 * Returns whether a stack may apply a desired object.
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

/** The additions of a stack to a pod template. */
interface Additions {
  readonly kind: WorkloadKind;
  /** Labels that select the pods. */
  readonly labels: Readonly<Record<string, string>>;
  readonly common: CommonSpec;
  /** The node selector of the pods, including the selector of the component. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Undefined if it does not apply to the component. */
  readonly availability: HighAvailabilitySpec | undefined;
  readonly folders: readonly Folder[];
}

/** Returns the pod template of a component. Its own fields take precedence. */
function podTemplateOf(template: V1PodTemplateSpec, additions: Additions): V1PodTemplateSpec {
  const { labels } = additions;
  return {
    ...template,
    metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...labels } },
    ...(template.spec && { spec: podSpecOf(template.spec, additions) }),
  };
}

function podSpecOf(
  spec: V1PodSpec,
  { kind, labels, common, nodeSelector, availability, folders }: Additions,
): V1PodSpec {
  const tolerations = [...(common.tolerations ?? []), ...(spec.tolerations ?? [])];
  const imagePullSecrets = spec.imagePullSecrets ?? common.imagePullSecrets;
  const priorityClassName = spec.priorityClassName ?? common.priorityClassName;
  return {
    ...spec,
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector: { ...nodeSelector } }),
    ...(tolerations.length > 0 && { tolerations }),
    ...(imagePullSecrets && { imagePullSecrets }),
    ...(priorityClassName !== undefined && { priorityClassName }),
    ...(availability && spreadOf(spec, { kind, labels, availability })),
    ...(folders.length > 0 && mounted(spec, folders)),
  };
}

/**
 * Spreads the pods over the values of a node label with a skew of at most one, and prefers nodes without a pod of the component. Nodes with taints
 * that the pod does not tolerate do not count, so that the pods of a node that is off fit elsewhere.
 */
function spreadOf(
  { topologySpreadConstraints, affinity }: V1PodSpec,
  { kind, labels, availability }: Pick<Additions, 'kind' | 'labels'> & { readonly availability: HighAvailabilitySpec },
): Pick<V1PodSpec, 'topologySpreadConstraints' | 'affinity'> {
  const topologyKey = availability.topologyKey ?? DEFAULT_TOPOLOGY_KEY;
  const labelSelector = { matchLabels: { ...labels } };
  const constraint: V1TopologySpreadConstraint = {
    ...{ maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy: 'Honor', labelSelector },
    // Otherwise the old pods of a Deployment would count when new ones replace them.
    ...(kind === 'Deployment' && { matchLabelKeys: ['pod-template-hash'] }),
  };
  const term = { weight: 100, podAffinityTerm: { topologyKey, labelSelector } };
  return {
    topologySpreadConstraints: topologySpreadConstraints ?? [constraint],
    affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [term] }, ...affinity },
  };
}

/** Mounts the folders in all containers. */
function mounted(spec: V1PodSpec, folders: readonly Folder[]): Partial<V1PodSpec> {
  const mounts = folders.map(({ volume, mountPath }) => ({ name: volume, mountPath, readOnly: true }));
  const withMounts = (container: V1Container): V1Container => ({
    ...container,
    volumeMounts: [...(container.volumeMounts ?? []), ...mounts],
  });
  return {
    volumes: [
      ...(spec.volumes ?? []),
      ...folders.map(({ volume, object }) => ({ name: volume, configMap: { name: object } })),
    ],
    containers: spec.containers.map(withMounts),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(withMounts) }),
  };
}
