import type { V1Job } from '@kubernetes/client-node';
import { textOf } from '../../../api/trafficstack/objectKinds.ts';
import type { ObjectsSpec, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { apiVersionOf, type KubeObject, type Resource } from '../../../runtime/client/resource.ts';
import { firstOf } from '../../../runtime/controller/conditions.ts';
import { problemIn, type Variables } from '../expression/expression.ts';
import { JOBS } from '../../../runtime/client/resources.ts';
import { appliedHash } from '../../../runtime/apply/difference.ts';
import { MANIFEST_HASH } from '../names.ts';
import { metadataOf, type DesiredObject } from './objects.ts';

/** Fields of the metadata of a manifest. The stack sets the owner reference, and the API server the rest. */
const OF_METADATA: ReadonlySet<string> = new Set(['name', 'namespace', 'labels', 'annotations']);
/** Seconds that a completed Job must stay, so that a restart of the operator does not miss it. */
const LEAST_TTL = 300;
/** Allowed kinds in a message. */
const MOST_KINDS = 10;

/** The inputs of a rendering. */
interface Source {
  readonly stack: TrafficStack;
  /** The name of the component. */
  readonly name: string;
  readonly objects: ObjectsSpec;
  /** Kinds that the administrator allows. */
  readonly kinds: readonly Resource[];
  /** The variables of `readyWhen` besides `object`. */
  readonly variables: Variables;
}

/** Renders the objects of a component of the type Objects, with the labels and the owner reference of the stack; or returns their problems. */
export function userObjects(source: Source): {
  readonly objects: readonly DesiredObject[];
  readonly problems: readonly string[];
} {
  const {
    stack,
    name,
    objects: { namespace, manifests },
    variables,
  } = source;
  const problems: string[] = [];
  const objects = manifests.flatMap(({ object, readyWhen }, index): DesiredObject[] => {
    const resource = source.kinds.find((each) => each.kind === object.kind && apiVersionOf(each) === object.apiVersion);
    const problem = resource === undefined ? notAllowed(object, source.kinds) : contentProblem(object, namespace);
    const field = `component ${name}, objects.manifests[${index}]`;
    if (problem !== undefined) problems.push(`${field}.object${problem}`);
    const ofExpression =
      readyWhen === undefined ? undefined : problemIn(readyWhen, [...Object.keys(variables), 'object']);
    if (ofExpression !== undefined) problems.push(`${field}.readyWhen: ${ofExpression}`);
    if (resource === undefined || problem !== undefined) return [];
    const { labels } = object.metadata ?? {};
    const isJob = resource.kind === JOBS.kind;
    const annotations = isJob
      ? { ...object.metadata?.annotations, [MANIFEST_HASH]: appliedHash(object) }
      : object.metadata?.annotations;
    const own = metadataOf(stack, name, { name: object.metadata?.name ?? '', namespace });
    const metadata = { ...own, ...(annotations && { annotations }), labels: { ...labels, ...own.labels } };
    return [{ resource, object: { ...object, metadata }, ...(readyWhen !== undefined && { readyWhen }) }];
  });
  return { objects, problems };
}

function notAllowed({ apiVersion, kind }: KubeObject, kinds: readonly Resource[]): string {
  const allowed = kinds.length === 0 ? 'none is allowed' : `allowed: ${firstOf(kinds.map(textOf), MOST_KINDS)}`;
  return `: the kind ${kind ?? '""'} of ${apiVersion ?? '""'} is not allowed; the administrator can allow it with stacks.objectKinds of the chart (--stack-object-kind); ${allowed}`;
}

/** Returns the problem of an object of an allowed kind, beginning with its field. */
function contentProblem(object: KubeObject & Record<string, unknown>, namespace: string): string | undefined {
  const { name, namespace: of, ...others } = (object.metadata ?? {}) as Record<string, unknown>;
  if (typeof name !== 'string' || name === '') return '.metadata.name: must be the name of the object';
  if (of !== undefined && of !== namespace) {
    return `.metadata.namespace: must be absent or ${namespace}, as in objects.namespace, and not ${JSON.stringify(of)}`;
  }
  const field = Object.keys(others).find((each) => !OF_METADATA.has(each) && others[each] !== null);
  if (field !== undefined) return `.metadata.${field}: must be absent; allowed are ${[...OF_METADATA].join(', ')}`;
  const ttl = (object as V1Job).spec?.ttlSecondsAfterFinished;
  if (object.kind === JOBS.kind && ttl !== undefined && ttl < LEAST_TTL) {
    return `.spec.ttlSecondsAfterFinished: must be at least ${LEAST_TTL}, and not ${ttl}: a Job that is deleted before the operator sees that it is complete runs again`;
  }
  return object.status === undefined ? undefined : '.status: must be absent: the controller of the kind writes it';
}
