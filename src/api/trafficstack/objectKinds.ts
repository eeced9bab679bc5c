import * as z from 'zod';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import {
  CONFIG_MAPS,
  POD_DISRUPTION_BUDGETS,
  PROMETHEUS_RULES,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../runtime/client/resources.ts';
import { GROUP } from '../group.ts';
import { patternSchema } from '../fieldSchemas.ts';
import { isObject, LABEL } from './podSchemas.ts';

/** A kind as administrators write it: group/version/plural/Kind, without the group for the core group. */
export const OBJECT_KIND_FORM =
  'group/version/plural/Kind, such as batch/v1/jobs/Job or v1/serviceaccounts/ServiceAccount';
const FORM = /^(?:([a-z0-9][-a-z0-9.]*)\/)?(v[0-9][a-z0-9]*)\/([a-z][-a-z0-9]*)\/([A-Z][A-Za-z0-9]*)$/;

/** Returns the kind of a text in that form; undefined for another text. */
export function objectKindOf(text: string): Resource | undefined {
  const [, group = '', version, plural, kind] = FORM.exec(text) ?? [];
  if (version === undefined || plural === undefined || kind === undefined) return undefined;
  return { group, version, kind, plural, namespaced: true };
}

/** Kinds that components of other types have too: an administrator may allow them. */
const SHARED: readonly Resource[] = [SERVICES, CONFIG_MAPS, POD_DISRUPTION_BUDGETS, SERVICE_ACCOUNTS, PROMETHEUS_RULES];
const WORKLOAD = 'use a component of the type Workload';
const OF_CLUSTER = 'it is of the whole cluster, and the objects of a component are in one namespace';
/** Kinds that no component may have, and why. The API server itself keeps Roles and RoleBindings from granting what the operator may not do. */
const REFUSED: Readonly<Record<string, string>> = {
  Secret: 'the operator does not read Secrets: create it yourself, and refer to it in a pod template',
  Pod: `${WORKLOAD}, or a Job`,
  ...{
    Deployment: WORKLOAD,
    StatefulSet: WORKLOAD,
    DaemonSet: WORKLOAD,
    ReplicaSet: WORKLOAD,
    ReplicationController: WORKLOAD,
  },
  ControllerRevision: 'the operator stores revisions in it',
  ...{ Namespace: OF_CLUSTER, Node: OF_CLUSTER, PersistentVolume: OF_CLUSTER, CustomResourceDefinition: OF_CLUSTER },
  ...{ ClusterRole: OF_CLUSTER, ClusterRoleBinding: OF_CLUSTER },
};

/** Returns why these kinds cannot all be allowed: a sentence. Undefined if they can. */
export function objectKindsProblem(kinds: readonly Resource[]): string | undefined {
  for (const [index, each] of kinds.entries()) {
    const { group, kind } = each;
    const text = `${textOf(each)} must not be allowed`;
    if (group === GROUP) return `${text}: it is a kind of the operator`;
    if (REFUSED[kind] !== undefined) return `${text}: ${REFUSED[kind]}`;
    // A stack knows its objects by kind, namespace and name.
    const other = [...SHARED, ...kinds.slice(0, index)].find((known) => known.kind === kind);
    if (other !== undefined && textOf(other) !== textOf(each))
      return `${text} together with ${textOf(other)}: kinds of stacks must have different names`;
  }
  return undefined;
}

/** The kind in the form of administrators. */
export function textOf({ group, version, plural, kind }: Resource): string {
  return [...(group === '' ? [] : [group]), version, plural, kind].join('/');
}

const MOST_MANIFESTS = 50;
const LONGEST_EXPRESSION = 4_096;

const manifest = z
  .object({
    object: z.custom<KubeObject & Record<string, unknown>>(isObject, 'must be an object').meta({
      ...{ type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      description:
        'The object, with apiVersion, kind and metadata.name. Its kind is one that stacks.objectKinds of the chart allows. metadata has only name, namespace, labels and annotations.',
    }),
    readyWhen: z
      .string()
      .min(1)
      .max(LONGEST_EXPRESSION)
      .optional()
      .meta({
        description:
          'CEL that returns true or false, over the live object, and self, components and common as in config files. Such as ' +
          '"object.status.phase == \'Running\'". Default: as its kind says; else its condition Ready or Available is True, if it has one.',
      }),
  })
  .meta({ description: 'One object.' });

/** Schema of `spec.components[].objects`. */
export const objectsSchema = z
  .object({
    namespace: patternSchema('Namespace of the objects. It must exist.', LABEL),
    manifests: z.array(manifest).min(1).max(MOST_MANIFESTS).meta({
      description: 'The objects, in the order of their creation.',
      'x-kubernetes-list-type': 'atomic',
    }),
  })
  .optional()
  .meta({ description: 'Objects of kinds that the administrator allows, for the type Objects.' });
