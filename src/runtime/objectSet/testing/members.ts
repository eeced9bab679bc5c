import { CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS } from '../../client/resources.ts';
import type { KubeObject, Resource } from '../../client/resource.ts';
import type { Member, Owner } from '../objectSet.ts';

/** The groups of made-up sets. */
export type Group = 'red' | 'blue';

/** The owner of made-up sets. */
export const OWNER: Owner = { labels: { owner: 'tests' } };

/** Optional fields of a made-up member. */
interface Declared {
  readonly group?: Group;
  readonly dependsOn?: readonly string[];
}

/** A Namespace. */
export function namespace(name: string, declared: Declared = {}): Member<Group> {
  return { ...declared, resource: NAMESPACES, object: { metadata: { name, labels: OWNER.labels } } };
}

/** A ConfigMap under 'namespace/name'. */
export function configMap(key: string, declared: Declared = {}): Member<Group> {
  return inNamespace(CONFIG_MAPS, key, declared);
}

/** A ServiceAccount under 'namespace/name'. */
export function account(key: string, declared: Declared = {}): Member<Group> {
  return inNamespace(SERVICE_ACCOUNTS, key, declared);
}

function inNamespace(resource: Resource, key: string, declared: Declared): Member<Group> {
  const [where, name] = key.split('/');
  const object: KubeObject = { metadata: { name, namespace: where, labels: OWNER.labels } };
  return { ...declared, resource, object };
}
