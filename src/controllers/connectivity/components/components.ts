import type { V1OwnerReference, V1PodTemplateSpec } from '@kubernetes/client-node';
import { serverCa } from '../../../connectivity/objects/agents.ts';
import { SERVER_CA_NAME, type ConnectivityOptions } from '../../../connectivity/objects/names.ts';
import { operatedObjects } from '../../../connectivity/objects/objects.ts';
import { serverDeployment } from '../../../connectivity/objects/server.ts';
import type { KubeObject, Resource } from '../../../runtime/client/resource.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  NAMESPACES,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../../runtime/client/resources.ts';
import { idFor, type Member, createObjectSet, type ObjectSet } from '../../../runtime/objectSet/objectSet.ts';
import { MANAGED_BY, OPERATOR, OWNER, PART_OF } from '../../contract/labels.ts';

/** The field manager of this controller. */
export const FIELD_MANAGER = 'traffic-operator-connectivity';

/**
 * A group of objects that is deployed and removed as a whole. A TrafficStack may keep `server` and `agents` instead of this controller,
 * but never the namespace of the agents, in which others may have pods, nor the CA of the server, which the operator reads from a file.
 */
export type ComponentGroup = 'server' | 'agents' | 'agentsNamespace' | 'serverCa';
export type Component = Member<ComponentGroup>;

/** The parts of the objects that depend on the cluster. */
interface Circumstances {
  /** Owns the objects in the operator's namespace, so that they are deleted with it. */
  readonly owner?: V1OwnerReference | undefined;
  /** The CA of the server, PEM; '' if it is not known. */
  readonly ca?: string | undefined;
}

/** An object with a pod template or without one. */
type Deployed = KubeObject & { spec?: { template?: V1PodTemplateSpec } };

const RESOURCES: readonly Resource[] = [NAMESPACES, SERVICE_ACCOUNTS, CONFIG_MAPS, SERVICES, DEPLOYMENTS, DAEMONSETS];

/** Returns all objects of the connectivity check, whether enabled or not. */
export function allComponents(options: ConnectivityOptions, circumstances?: Circumstances): Component[] {
  const ca = serverCa(options, circumstances?.ca ?? '');
  return [ca, ...operatedObjects(options)].map((object) => component(object as Deployed, options, circumstances));
}

/** Returns the object set of the connectivity check. */
export function connectivitySet(
  options: ConnectivityOptions,
  circumstances?: Circumstances,
): ObjectSet<ComponentGroup> {
  return createObjectSet(OWNER, allComponents(options, circumstances));
}

/** Returns the Deployment of the server. */
export function serverComponent(options: ConnectivityOptions): Component {
  return component(serverDeployment(options), options);
}

function component(object: Deployed, options: ConnectivityOptions, circumstances?: Circumstances): Component {
  const owner = circumstances?.owner;
  const resource = RESOURCES.find(({ kind }) => kind === object.kind);
  if (resource === undefined) throw new Error(`no resource for objects of the kind ${object.kind}`);
  const marked = withMarks(object);
  const metadata = {
    ...marked.metadata,
    ...(owner !== undefined && object.metadata?.namespace === options.namespace ? { ownerReferences: [owner] } : {}),
  };
  return {
    group: groupOf(object, options),
    resource,
    object: { ...marked, metadata },
    dependsOn: [...accountOf(object), ...caOf(object, options)],
  };
}

/** Returns the group of an object. The objects of the server are in the namespace of the operator. */
function groupOf({ kind, metadata }: Deployed, { agentsNamespace }: ConnectivityOptions): ComponentGroup {
  if (kind === NAMESPACES.kind) return 'agentsNamespace';
  if (kind === CONFIG_MAPS.kind) return 'serverCa';
  return metadata?.namespace === agentsNamespace ? 'agents' : 'server';
}

/** Adds the labels of the operator to the object and its pods. The selectors are unchanged: the original has the same. */
function withMarks(object: Deployed): Deployed {
  const metadata = { ...object.metadata, labels: { ...object.metadata?.labels, ...MARKS } };
  const template = object.spec?.template;
  if (template === undefined) return { ...object, metadata };
  const pod = { ...template, metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...MARKS } } };
  return { ...object, metadata, spec: { ...object.spec, template: pod } };
}

const MARKS = { 'app.kubernetes.io/part-of': PART_OF, [MANAGED_BY]: OPERATOR };

/**
 * Returns the ConfigMap with the CA, which workloads need with TLS. The pods of agents cannot start without it. The server
 * also waits for it: otherwise it would change to HTTPS before the agents that already run can verify it.
 */
function caOf({ kind }: Deployed, { agentsNamespace: namespace, tlsSecretName }: ConnectivityOptions): string[] {
  if ((kind !== DAEMONSETS.kind && kind !== DEPLOYMENTS.kind) || tlsSecretName === '') return [];
  return [idFor(CONFIG_MAPS, { namespace, name: SERVER_CA_NAME })];
}

/** Returns the ServiceAccount that a workload needs: its pods cannot be created before. */
function accountOf({ metadata, spec }: Deployed): string[] {
  const name = spec?.template?.spec?.serviceAccountName;
  if (name === undefined || metadata?.namespace === undefined) return [];
  return [idFor(SERVICE_ACCOUNTS, { namespace: metadata.namespace, name })];
}
