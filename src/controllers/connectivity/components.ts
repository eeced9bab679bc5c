import type { V1OwnerReference, V1PodTemplateSpec } from '@kubernetes/client-node';
import { serverCa } from '../../connectivity/objects/agents.ts';
import { SERVER_CA_NAME, type ConnectivityOptions } from '../../connectivity/objects/names.ts';
import { operatedObjects } from '../../connectivity/objects/objects.ts';
import { serverDeployment } from '../../connectivity/objects/server.ts';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  NAMESPACES,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../runtime/client/resources.ts';
import { idFor, type Member } from '../../runtime/objectSet/member.ts';
import { createObjectSet, type ObjectSet } from '../../runtime/objectSet/objectSet.ts';
import { MANAGED_BY, OPERATOR, OWNER, PART_OF } from '../contract/labels.ts';
import { FIRST_CHECK_ANNOTATION, FIRST_CHECK_DONE } from './names.ts';

/** The objects are deployed and removed together, but the CA of the server: it is needed with TLS only. */
export type ComponentGroup = 'connectivity' | 'serverCa';
export type Component = Member<ComponentGroup>;

/** What of the objects depends on the cluster. */
export interface Circumstances {
  /** Owns the objects in the operator's namespace, so that they are deleted with it. */
  readonly owner?: V1OwnerReference | undefined;
  /** The CA of the server, PEM; '' if it is not known. */
  readonly ca?: string | undefined;
  /** Whether the first ConnectivityCheck was created, or was not needed. */
  readonly firstCheckDone: boolean;
}

/** An object with a pod template or without one. */
type Deployed = KubeObject & { spec?: { template?: V1PodTemplateSpec } };

const RESOURCES: readonly Resource[] = [NAMESPACES, SERVICE_ACCOUNTS, CONFIG_MAPS, SERVICES, DEPLOYMENTS, DAEMONSETS];

/** All objects of the connectivity check, whether enabled or not. */
export function allComponents(options: ConnectivityOptions, circumstances?: Circumstances): Component[] {
  const ca = component(serverCa(options, circumstances?.ca ?? ''), options, circumstances);
  const others = operatedObjects(options).map((object) => component(object as Deployed, options, circumstances));
  return [{ ...ca, group: 'serverCa' }, ...others];
}

/** The object set of the connectivity check. */
export function connectivitySet(
  options: ConnectivityOptions,
  circumstances?: Circumstances,
): ObjectSet<ComponentGroup> {
  return createObjectSet(OWNER, allComponents(options, circumstances));
}

/** The Deployment of the server. */
export function serverComponent(options: ConnectivityOptions): Component {
  return component(serverDeployment(options), options);
}

function component(object: Deployed, options: ConnectivityOptions, circumstances?: Circumstances): Component {
  const { owner, firstCheckDone = false } = circumstances ?? {};
  const resource = RESOURCES.find(({ kind }) => kind === object.kind);
  if (resource === undefined) throw new Error(`no resource for objects of the kind ${object.kind}`);
  const marked = withMarks(object);
  const metadata = {
    ...marked.metadata,
    ...(firstCheckDone && object.kind === DEPLOYMENTS.kind
      ? { annotations: { [FIRST_CHECK_ANNOTATION]: FIRST_CHECK_DONE } }
      : {}),
    ...(owner !== undefined && object.metadata?.namespace === options.namespace ? { ownerReferences: [owner] } : {}),
  };
  return {
    group: 'connectivity',
    resource,
    object: { ...marked, metadata },
    dependsOn: [...accountOf(object), ...caOf(object, options)],
  };
}

/** The labels of the operator on the object and on its pods; the selectors stay those of the original. */
function withMarks(object: Deployed): Deployed {
  const metadata = { ...object.metadata, labels: { ...object.metadata?.labels, ...MARKS } };
  const template = object.spec?.template;
  if (template === undefined) return { ...object, metadata };
  const pod = { ...template, metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...MARKS } } };
  return { ...object, metadata, spec: { ...object.spec, template: pod } };
}

const MARKS = { 'app.kubernetes.io/part-of': PART_OF, [MANAGED_BY]: OPERATOR };

/**
 * With TLS, the pods of agents cannot start before the CA of the server is there. The server waits for it, too: until then
 * agents that are deployed already could not follow it to HTTPS.
 */
function caOf({ kind }: Deployed, { agentsNamespace: namespace, tlsSecretName }: ConnectivityOptions): string[] {
  if ((kind !== DAEMONSETS.kind && kind !== DEPLOYMENTS.kind) || tlsSecretName === '') return [];
  return [idFor(CONFIG_MAPS, { namespace, name: SERVER_CA_NAME })];
}

/** Pods cannot be created before their account. */
function accountOf({ metadata, spec }: Deployed): string[] {
  const name = spec?.template?.spec?.serviceAccountName;
  if (name === undefined || metadata?.namespace === undefined) return [];
  return [idFor(SERVICE_ACCOUNTS, { namespace: metadata.namespace, name })];
}
