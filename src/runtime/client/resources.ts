import type {
  EventsV1Event,
  V1ConfigMap,
  V1ControllerRevision,
  V1DaemonSet,
  V1Deployment,
  V1EndpointSlice,
  V1Ingress,
  V1Job,
  V1Lease,
  V1MutatingWebhookConfiguration,
  V1Namespace,
  V1Node,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
  V1SubjectAccessReview,
  V1TokenReview,
} from '@kubernetes/client-node';
import type { KubeObject, Resource } from './resource.ts';

/** The built-in kinds that this program reads or writes. */
export const NODES: Resource<V1Node> = core('Node', 'nodes', false);
export const NAMESPACES: Resource<V1Namespace> = core('Namespace', 'namespaces', false);
export const PODS: Resource<V1Pod> = core('Pod', 'pods', true);
export const SERVICES: Resource<V1Service> = core('Service', 'services', true);
export const SERVICE_ACCOUNTS: Resource<V1ServiceAccount> = core('ServiceAccount', 'serviceaccounts', true);
export const CONFIG_MAPS: Resource<V1ConfigMap> = core('ConfigMap', 'configmaps', true);
export const PERSISTENT_VOLUME_CLAIMS: Resource<V1PersistentVolumeClaim> = core(
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
  true,
);
export const DEPLOYMENTS: Resource<V1Deployment> = namespaced('apps', 'Deployment', 'deployments');
export const STATEFULSETS: Resource<V1StatefulSet> = namespaced('apps', 'StatefulSet', 'statefulsets');
export const DAEMONSETS: Resource<V1DaemonSet> = namespaced('apps', 'DaemonSet', 'daemonsets');
export const CONTROLLER_REVISIONS: Resource<V1ControllerRevision> = namespaced(
  'apps',
  'ControllerRevision',
  'controllerrevisions',
);
export const POD_DISRUPTION_BUDGETS: Resource<V1PodDisruptionBudget> = namespaced(
  'policy',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
);
/** A kind of the Prometheus operator, whose CRD may be missing. */
export const PROMETHEUS_RULES: Resource = namespaced('monitoring.coreos.com', 'PrometheusRule', 'prometheusrules');
/** The label of an EndpointSlice with the name of its Service. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
export const ENDPOINT_SLICES: Resource<V1EndpointSlice> = namespaced(
  'discovery.k8s.io',
  'EndpointSlice',
  'endpointslices',
);
export const INGRESSES: Resource<V1Ingress> = namespaced('networking.k8s.io', 'Ingress', 'ingresses');
export const JOBS: Resource<V1Job> = namespaced('batch', 'Job', 'jobs');
export const LEASES: Resource<V1Lease> = namespaced('coordination.k8s.io', 'Lease', 'leases');
/** The fields that are read here. The package @kubernetes/client-node has no type for this kind. */
export interface MutatingAdmissionPolicy extends KubeObject {
  spec?: { paramKind?: { apiVersion?: string; kind?: string }; variables?: { name: string; expression: string }[] };
}
interface MutatingAdmissionPolicyBinding extends KubeObject {
  spec?: { policyName?: string };
}
const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;
export const MUTATING_POLICIES: Resource<MutatingAdmissionPolicy> = {
  ...ADMISSION,
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
};
export const MUTATING_POLICY_BINDINGS: Resource<MutatingAdmissionPolicyBinding> = {
  ...ADMISSION,
  kind: 'MutatingAdmissionPolicyBinding',
  plural: 'mutatingadmissionpolicybindings',
};
export const MUTATING_WEBHOOKS: Resource<V1MutatingWebhookConfiguration> = {
  ...ADMISSION,
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
};
/** A request for whether a token is valid, and whose it is. */
export const TOKEN_REVIEWS: Resource<V1TokenReview> = review('authentication', 'TokenReview', 'tokenreviews');
export const SUBJECT_ACCESS_REVIEWS: Resource<V1SubjectAccessReview> = review(
  'authorization',
  'SubjectAccessReview',
  'subjectaccessreviews',
);
export const EVENTS: Resource<EventsV1Event> = namespaced('events.k8s.io', 'Event', 'events');

function core<T extends KubeObject>(kind: string, plural: string, isNamespaced: boolean): Resource<T> {
  return { group: '', version: 'v1', kind, plural, namespaced: isNamespaced };
}

function namespaced<T extends KubeObject>(group: string, kind: string, plural: string): Resource<T> {
  return { group, version: 'v1', kind, plural, namespaced: true };
}

function review<T extends KubeObject>(group: string, kind: string, plural: string): Resource<T> {
  return { group: `${group}.k8s.io`, version: 'v1', kind, plural, namespaced: false };
}
